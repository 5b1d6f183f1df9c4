#include <doctest/doctest.h>

#include "base/digest.h"
#include "base/placeholders.h"
#include "base/sealed_text.h"
#include "base/text.h"

namespace arena {

TEST_SUITE_BEGIN("base");

TEST_CASE("sha256 of known texts") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("fields with moved borders have different digests") {
  Digest a;
  a.update_field("ab");
  a.update_field("c");
  Digest b;
  b.update_field("a");
  b.update_field("bc");
  CHECK(a.hex() != b.hex());
}

TEST_CASE("a sealed text opens whole and at no other length") {
  const std::string sealed = seal("name: x\nvalue: 3\n");
  CHECK(unseal(sealed, "f").value() == "name: x\nvalue: 3\n");
  for (std::size_t length = 0; length < sealed.size(); ++length) {
    CHECK(unseal(std::string_view(sealed).substr(0, length), "f").error().code == ErrorCode::corrupt);
  }
  CHECK_FALSE(unseal(sealed + "x", "f"));
  CHECK_FALSE(unseal(sealed + sealed, "f"));
}

TEST_CASE("a sealed text with any byte changed does not open") {
  const std::string sealed = seal("a: 1\n");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK_FALSE(unseal(changed, "f"));
  }
}

TEST_CASE("placeholders are expanded, unknown ones are errors that name the known") {
  const PlaceholderValues values{{"workspace", "/w"}, {"model", "m"}};
  CHECK(expand_placeholders("{workspace}/x {{}} {model}", values).value() == "/w/x {} m");
  for (const char* bad : {"{", "}", "{nope}", "{work", "a}b"}) CHECK_FALSE(expand_placeholders(bad, values));
  const auto error = expand_placeholders("{wrkspace}", values).error();
  CHECK(contains(error.message, "{workspace}"));
}

TEST_CASE("numbers are read whole or not at all") {
  CHECK(parse_integer("42") == 42);
  CHECK(parse_integer("-7") == -7);
  CHECK(parse_integer("+7") == 7);
  for (const char* bad : {"", " 1", "1 ", "0x1f", "1_000", "1.0", "9223372036854775808", "+-1", "-", "+"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_integer(bad));
  }
  CHECK(parse_double("1e-3") == 0.001);
  CHECK_FALSE(parse_double("1,5"));
}

TEST_CASE("printable text keeps valid UTF-8 and replaces the rest") {
  CHECK(to_printable_utf8("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC\n\t") == "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC\n\t");
  CHECK(to_printable_utf8(std::string("a\0b\xFF\x1B[1m\r", 9)) ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD\xEF\xBF\xBD[1m\xEF\xBF\xBD");
  CHECK(to_printable_utf8("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(to_printable_utf8("\xC0\xAF") == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("the nearest word is a plausible misspelling or nothing") {
  CHECK(nearest_word("taks", {"agent", "tasks"}) == "tasks");
  CHECK_FALSE(nearest_word("completely_other", {"agent", "tasks"}));
}

TEST_CASE("durations read well at every size") {
  using std::chrono::milliseconds;
  CHECK(format_duration(milliseconds(850)) == "850 ms");
  CHECK(format_duration(milliseconds(12'340)) == "12.3 s");
  CHECK(format_duration(milliseconds(245'000)) == "4 min 05 s");
  CHECK(format_duration(milliseconds(7'380'000)) == "2 h 03 min");
}

TEST_SUITE_END();

}  // namespace arena
