#include "model/yaml.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "model/yaml_simple.h"

namespace arena {

namespace {

YamlNode parsed(std::string_view text) {
  const auto node = parse_yaml(text, "f.yaml");
  if (!node) FAIL(node.error().message);
  return *node;
}

std::string error_of(std::string_view text) {
  const auto node = parse_yaml(text, "f.yaml");
  if (node) FAIL("parsed although it should not");
  CHECK(node.error().code == ErrorCode::invalid_input);
  return node.error().message;
}

bool same(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.scalar != b.scalar || a.quoted != b.quoted || a.line != b.line) return false;
  const auto same_entry = [](const YamlEntry& x, const YamlEntry& y) {
    return x.key == y.key && x.key_line == y.key_line && same(x.value, y.value);
  };
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(), same_entry);
}

}  // namespace

TEST_SUITE_BEGIN("yaml");

TEST_CASE("scalars, lists and mappings keep their order, quotes and lines") {
  const YamlNode root = parsed("a: 1\nb: '1'\nc:\n  - x\n  - {k: v}\nd: |\n  two\n  lines\ne: ~\nf:\n");
  REQUIRE(root.entries.size() == 6);
  CHECK(root.entries[0].key == "a");
  CHECK_FALSE(root.find("a")->quoted);
  CHECK(root.find("b")->quoted);
  CHECK(root.find("c")->items[1].find("k")->scalar == "v");
  CHECK(root.find("c")->items[1].line == 5);
  CHECK(root.entries[3].key_line == 6);
  CHECK(root.find("d")->scalar == "two\nlines\n");
  CHECK(root.find("d")->quoted);
  CHECK(root.find("e")->is_null());
  CHECK(root.find("f")->is_null());
  CHECK(root.find("nope") == nullptr);
  CHECK(root.find("a")->find("x") == nullptr);
}

TEST_CASE("empty, blank and comment-only texts are a null node") {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "   "}) {
    CAPTURE(text);
    CHECK(parsed(text).is_null());
  }
}

TEST_CASE("a byte order mark and carriage returns of another system do no harm") {
  const YamlNode root = parsed(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: \"x\"\r\nc:\r\n");
  CHECK(root.find("a")->scalar == "1");
  CHECK(root.find("b")->scalar == "x");
  CHECK(root.find("c")->is_null());
}

TEST_CASE("every escape of a double-quoted text gives valid UTF-8") {
  CHECK(parsed("a: \"\\x41\\u263a\\U0001F642\\e\\0\\N\\_\\L\\P\"").find("a")->scalar ==
        std::string("A\xE2\x98\xBA\xF0\x9F\x99\x82\x1B\0\xC2\x85\xC2\xA0\xE2\x80\xA8\xE2\x80\xA9", 20));
  CHECK_FALSE(parse_yaml("a: \"\\uD800\"", "f"));
}

TEST_CASE("what a strict reader rejects is an error with its line") {
  CHECK(error_of("a: 1\nb: 2\na: 3\n") == "f.yaml:3: duplicate key 'a', first given in line 1");
  CHECK(contains(error_of("x:\n  a: 1\n  'a': 2\n"), "f.yaml:3: duplicate key 'a'"));
  CHECK(contains(error_of("a: 1\n---\nb: 2\n"), "f.yaml:2: a second document"));
  CHECK(contains(error_of("a: 1\n? [x]\n: 2\n"), "f.yaml:2: a key must be a plain name"));
  CHECK(contains(error_of("? {a: b}\n: 2\n"), "a key must be a plain name"));
  CHECK(contains(error_of("a: 1\n: 2\n"), "f.yaml:2: a key is missing"));
  CHECK(contains(error_of("a: *nope\n"), "f.yaml:1: "));
  CHECK(contains(error_of("a: b: c\n"), "f.yaml:1: unexpected ':'"));
  CHECK(contains(error_of("a: [1,\n"), "f.yaml:2: "));
  CHECK(contains(error_of("a: !python/object x\n"), "f.yaml:1: the tag"));
  CHECK(contains(error_of("a: 1\nb: \x04 c: 2\n"), "f.yaml:2: a control character (0x04)"));
  CHECK(contains(error_of(std::string("a: \0b", 5)), "f.yaml:1: a control character (0x00)"));
  CHECK(contains(error_of("a: 1\nb: \xC3\n"), "f.yaml:2: not valid UTF-8"));
}

TEST_CASE("a file cut in its last line is no valid file") {
  CHECK(error_of("a: 1\npass_comp") == "f.yaml:2: there is no ':' after 'pass_comp'");
  CHECK(contains(error_of("a: 1\n\"pass_comp\""), "there is no ':'"));
  for (const char* open :
       {"a: \"x", "a: &anchor 'it''s", "a: \"x\\\"", "a: \"x\n", "a: &b 'it''s\n", "a: !!str \"x\\\"\n"}) {
    CAPTURE(open);
    CHECK(contains(error_of(open), "f.yaml:1: a quote is opened and never closed"));
  }
  // What only looks like it.
  CHECK(parsed("\"a b\" : ~\n'c':\n").entries.size() == 2);
  CHECK(parsed("a: \"x\\\"\"").find("a")->scalar == "x\"");
  CHECK(parsed("a: 'it''s'").find("a")->scalar == "it's");
  CHECK(parsed("a: !!str \"x\"\nb: |\n  \"open").find("b")->scalar == "\"open");
}

TEST_CASE("aliases and merge keys are expanded, own keys win, earlier merges win over later ones") {
  const YamlNode root = parsed(
      "base: &base {a: 1, b: 2}\nother: &other {b: 3, c: 4}\nsame: *base\n"
      "merged:\n  b: own\n  <<: [*base, *other]\nquoted:\n  '<<': x\n");
  CHECK(root.find("same")->find("b")->scalar == "2");
  const YamlNode* merged = root.find("merged");
  CHECK(merged->find("a")->scalar == "1");
  CHECK(merged->find("b")->scalar == "own");
  CHECK(merged->find("c")->scalar == "4");
  CHECK(merged->find("<<") == nullptr);
  CHECK(root.find("quoted")->find("<<")->scalar == "x");
  CHECK(contains(error_of("a:\n  <<: text\n"), "f.yaml:2: '<<' needs a mapping"));
  CHECK(contains(error_of("a: &a [*a]\n"), "contains it"));
}

TEST_CASE("aliases that double at every level are refused, not expanded") {
  std::string text = "l0: &l0 [x, x]\n";
  for (int i = 1; i < 40; ++i) text += fmt::format("l{0}: &l{0} [*l{1}, *l{1}]\n", i, i - 1);
  CHECK(contains(error_of(text), "aliases expand to too much"));
  std::string long_text = "a: &a " + std::string(100'000, 'x') + "\nb: [";
  for (int i = 0; i < 1000; ++i) long_text += "*a, ";
  CHECK(contains(error_of(long_text + "]\n"), "aliases expand to too much"));
}

TEST_CASE("nesting is bounded, by us or by yaml-cpp, without a crash") {
  for (const int depth : {101, 600, 100'000}) {
    const auto brackets = static_cast<std::size_t>(depth);
    CHECK_FALSE(parse_yaml(std::string(brackets, '['), "f"));
    CHECK(contains(error_of(std::string(brackets, '[') + std::string(brackets, ']')),
                   "f.yaml:1: nested too deeply"));
  }
  CHECK(contains(error_of([] {
                   std::string text;
                   for (int i = 0; i < 200; ++i)
                     text += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
                   return text;
                 }()),
                 "nested too deeply"));
  CHECK(parsed(std::string(90, '[') + std::string(90, ']')).kind == YamlNode::Kind::sequence);
}

TEST_CASE("values of the wrong type are errors, never a default") {
  const auto node = [](std::string_view text) { return parsed("v: " + std::string(text)).entries[0].value; };
  CHECK(yaml_integer(node("42")) == 42);
  CHECK(yaml_integer(node("-5")) == -5);
  for (const char* bad :
       {"010", "1_000", "0x1f", "1.0", "300.5", "30s", "'3'", "~", "", "[1]", "1e3", "0o7", "-01"}) {
    CAPTURE(bad);
    CHECK_FALSE(yaml_integer(node(bad)));
  }
  CHECK(yaml_integer(node("30s")).error().message == "expected a whole number, not '30s'");
  CHECK(yaml_integer(node("'3'")).error().message == "expected a whole number, not the text \"3\"");
  CHECK(yaml_double(node("1.5")) == 1.5);
  CHECK(yaml_double(node("1e-3")) == 0.001);
  CHECK(yaml_double(node("-.inf")) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(yaml_double(node(".NaN")).value()));
  for (const char* bad : {"nan", "inf", "1,5", "1.5ms", "'1.5'", "~", "00.5", "1_0.0"}) {
    CAPTURE(bad);
    CHECK_FALSE(yaml_double(node(bad)));
  }
  for (const char* yes : {"true", "True", "TRUE", "yes", "on"}) CHECK(yaml_bool(node(yes)) == true);
  for (const char* no : {"false", "no", "Off"}) CHECK(yaml_bool(node(no)) == false);
  for (const char* bad : {"1", "y", "'true'", "~", "{}"}) CHECK_FALSE(yaml_bool(node(bad)));
  CHECK(yaml_string(node("007")) == "007");
  CHECK(yaml_string(node("'~'")) == "~");
  for (const char* bad : {"~", "null", "", "[a]", "{a: b}"}) CHECK_FALSE(yaml_string(node(bad)));
  CHECK(yaml_string_list(node("[a, 1, 'b c']")) == std::vector<std::string>{"a", "1", "b c"});
  for (const char* bad : {"a", "[a, ~]", "[[a]]", "~"}) CHECK_FALSE(yaml_string_list(node(bad)));
}

TEST_CASE("a mapping reader names file, line, key and the nearest known key") {
  const YamlNode root = parsed("agent:\n  template: x\n  timeout_secnds: 5\n  effort: ~\n  n: 300\n");
  MappingReader reader(*root.find("agent"), "run.yaml", "agent");
  CHECK(reader.required_string("template") == "x");
  CHECK_FALSE(reader.integer("timeout_seconds", 0, 100));
  CHECK(reader.is_explicit_null("effort"));
  CHECK_FALSE(reader.is_explicit_null("model"));
  CHECK_FALSE(reader.string("effort"));
  CHECK(reader.integer("n", 0, 300) == 300);
  std::vector<std::string> warnings;
  CHECK(reader.finish(UnknownKeys::warn, &warnings));
  const std::string expected =
      "run.yaml:3: agent.timeout_secnds: unknown key; did you mean agent.timeout_seconds?";
  CHECK(warnings == std::vector<std::string>{expected});
  CHECK(reader.finish(UnknownKeys::ignore, nullptr));
  CHECK(reader.finish(UnknownKeys::error, nullptr).error().message == expected);
}

TEST_CASE("the first error of a mapping sticks") {
  const YamlNode root = parsed("a: 30s\nb: -1\n");
  MappingReader reader(root, "f", "");
  CHECK_FALSE(reader.integer("a", 0, 9));
  CHECK_FALSE(reader.integer("b", 0, 9));
  CHECK(reader.required_string("c").empty());
  CHECK(reader.finish(UnknownKeys::error, nullptr).error().message ==
        "f:1: a: expected a whole number, not '30s'");

  MappingReader range(root, "f", "top");
  CHECK_FALSE(range.integer("b", 0, 9));
  CHECK(range.finish(UnknownKeys::ignore, nullptr).error().message ==
        "f:2: top.b: expected a whole number from 0 to 9, not -1");
  MappingReader missing(root, "f", "");
  missing.required_string("c");
  CHECK(missing.finish(UnknownKeys::ignore, nullptr).error().message ==
        "f:1: c: required, but missing or empty");
  const YamlNode list = parsed("- a\n");
  MappingReader no_mapping(list, "f", "x");
  CHECK_FALSE(no_mapping.string("a"));
  CHECK(no_mapping.finish(UnknownKeys::ignore, nullptr).error().message ==
        "f:1: x: expected keys with values, not a list");
}

// Every text here has been read back with PyYAML 6 (YAML 1.1) as the same string.
TEST_CASE("strings that some reader takes for something else are quoted") {
  for (const char* text :
       {"",   "yes",  "No",    "ON",   "off",     "true",     "False",        "null",         "Null",
        "~",  "y",    "N",     "nan",  "inf",     ".inf",     ".nan",         "007",          "1",
        "-1", "+1",   "1_000", "0x1f", "0o7",     "1.5",      "1e5",          "12:30:45",     "12e03",
        "-",  "- a",  "a: b",  "a #b", "#a",      " a",       "a ",           "a:",           "[a",
        "{a", "&a",   "*a",    "!a",   "|",       ">",        "%a",           "@a",           "`a",
        "'a", "\"a",  "?",     "? a",  "=",       "<<",       "2026-06-17",   "---",          "...",
        ",a", "a\nb", "a\tb",  "a\rb", "\x1b[1m", "\xC2\x85", "\xE2\x80\xA8", "\xEF\xBB\xBF", "a\\n"}) {
    CAPTURE(text);
    const std::string scalar = yaml_scalar(text);
    CHECK(scalar.front() == '"');
    CHECK(scalar.find('\n') == std::string::npos);
    CHECK(yaml_string(parsed("v: " + scalar).entries[0].value) == text);
    CHECK(parsed("v: " + scalar + "\n").entries[0].value.quoted);
  }
  for (const char* text : {"a", "hip2hip/gpumode/GELU", "python3 x.py --flag=1", "/abs/path", "_x",
                           "run (2), done", "a-b.c+d"}) {
    CHECK(yaml_scalar(text) == text);
    CHECK(yaml_string(parsed("v: " + yaml_scalar(text)).entries[0].value) == text);
  }
  CHECK(yaml_scalar("gr\xC3\xBC\xC3\x9F") == "\"gr\xC3\xBC\xC3\x9F\"");
}

TEST_CASE("every byte, alone and in a word, can be written; valid UTF-8 comes back unchanged") {
  for (int byte = 0; byte < 256; ++byte) {
    CAPTURE(byte);
    for (const std::string& text :
         {std::string(1, static_cast<char>(byte)), "a" + std::string(1, static_cast<char>(byte)) + "b"}) {
      const YamlNode root = parsed("v: " + yaml_scalar(text) + "\n");
      const std::string expected = byte < 0x80        ? text
                                   : text.size() == 1 ? "\xEF\xBF\xBD"
                                                      : "a\xEF\xBF\xBD"
                                                        "b";
      CHECK(yaml_string(root.entries[0].value) == expected);
    }
  }
  for (const char* text :
       {"\xF0\x9F\x99\x82", "\xEF\xBF\xBE", "\xF4\x8F\xBF\xBF", "\xC2\xA0", "\xED\x9F\xBF"}) {
    CHECK(yaml_string(parsed("v: " + yaml_scalar(text)).entries[0].value) == text);
  }
}

TEST_CASE("the writer's output is readable and comes back as it was given") {
  YamlWriter writer;
  writer.comment("made\nby arena").string("name", "x").integer("i", -3).boolean("b", true).null("z");
  writer.string_list("none", {}).string_list("two", {"a", "yes"});
  writer.begin_mapping("m").string("k", "v").begin_mapping("empty").end_mapping().end_mapping();
  writer.begin_sequence("s");
  writer.begin_item()
      .string("id", "1")
      .string_list("l", {"q"})
      .begin_mapping("in")
      .integer("i", 1)
      .end_mapping()
      .end_item();
  writer.begin_item().end_item();
  writer.end_sequence().begin_sequence("e").end_sequence().string("last", "end");
  const std::string text = writer.take();
  CHECK(text ==
        "# made\n# by arena\nname: x\ni: -3\nb: true\nz: null\nnone: []\ntwo:\n  - a\n  - \"yes\"\nm:\n  k: "
        "v\n  empty: {}\n"
        "s:\n  - id: \"1\"\n    l:\n      - q\n    in:\n      i: 1\n  - {}\ne: []\nlast: end\n");
  const YamlNode root = parsed(text);
  CHECK(root.find("s")->items[0].find("in")->find("i")->scalar == "1");
  CHECK(root.find("s")->items[1].kind == YamlNode::Kind::mapping);
  CHECK(root.find("m")->find("empty")->kind == YamlNode::Kind::mapping);
  CHECK(root.find("e")->kind == YamlNode::Kind::sequence);
}

TEST_CASE("numbers are written so that YAML 1.1 takes them for numbers, and read back the same") {
  const auto written = [](double value) { return YamlWriter().number("v", value).take(); };
  CHECK(written(1e22) == "v: 1.0e+22\n");
  CHECK(written(1) == "v: 1.0\n");
  CHECK(written(-0.0) == "v: -0.0\n");
  CHECK(written(std::numeric_limits<double>::infinity()) == "v: .inf\n");
  CHECK(written(std::nan("")) == "v: .nan\n");
  for (const double value : {0.1, 1.0 / 3, 1e-300, 5e-324, 1.7976931348623157e308, 123456789.125, -2.5e-7}) {
    CHECK(yaml_double(parsed(written(value)).entries[0].value) == value);
  }
}

TEST_CASE("a literal block keeps its text to the byte, at any depth") {
  for (const char* text : {"one", "one\n", "one\n\n\n", "a\nb\n", "  indented\nx\n", "\nblank first\n",
                           "\ttab\n", "a\n   \nb", "a\n\n  b\n", "k: v # no comment\n- x\n", "\n", "", "a\rb",
                           "\xFF"
                           "x",
                           "gr\xC3\xBC\xC3\x9F\n"}) {
    CAPTURE(text);
    YamlWriter writer;
    writer.literal("t", text).begin_mapping("m").literal("t", text).end_mapping().string("after", "x");
    const YamlNode root = parsed(writer.take());
    const std::string expected = text[0] == '\xFF' ? "\xEF\xBF\xBDx" : text;
    CHECK(yaml_string(*root.find("t")) == expected);
    CHECK(yaml_string(*root.find("m")->find("t")) == expected);
    CHECK(root.find("after")->scalar == "x");
  }
  CHECK(YamlWriter().literal("t", "a\nb\n").take() == "t: |\n  a\n  b\n");
}

TEST_CASE("the direct reader takes plain block style, and only as yaml-cpp reads it") {
  const std::string text =
      "# comment\nindex: 17\n\nname: hip2hip/gpumode/GELU  # why\nempty:\nnothing: ~\nlist:\n- a b\n- \"c "
      "\\\" d\"\nnone: []\n"
      "deep:\n    x: 'y'\n    under:\n      - -1\n    # here\nlast: python3 a.py --b={c} [d]\n";
  const auto simple = parse_simple_yaml(text);
  REQUIRE(simple);
  CHECK(same(*simple, parse_full_yaml(text, "f").value()));
  CHECK(simple->find("list")->items[1].scalar == "c \" d");
  CHECK(simple->find("last")->scalar == "python3 a.py --b={c} [d]");
}

TEST_CASE("cut, doubled or changed at any byte, a text reads the same in both ways or is left to yaml-cpp") {
  const std::string text =
      "a: 1 # x\nb:\n- c d\n- 'e'\n-  f\ng:\n  h: \"i\\n\"\n  j:\n    k: l:m\n  n: null\no: {}\np: x#y "
      "[z]\nq:\n\nr: -1\n";
  std::vector<std::string> texts;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    texts.push_back(text.substr(0, i));
    texts.push_back(text.substr(i));
    texts.push_back(text.substr(0, i) + text.substr(i / 2));
    for (const char c : {' ', '\n', ':', '-', '#', '\'', '"', '\\', '[',  '{', '&',
                         '!', '\t', '?', '|', 'x', '~',  ',', '<',  '\r', '.', '%'}) {
      texts.push_back(text.substr(0, i) + c + text.substr(i));
      if (i < text.size()) texts.push_back(text.substr(0, i) + c + text.substr(i + 1));
    }
  }
  int direct = 0;
  for (const std::string& variant : texts) {
    const auto simple = parse_simple_yaml(variant);
    if (!simple) continue;
    ++direct;
    CAPTURE(variant);
    const auto full = parse_full_yaml(variant, "f");
    REQUIRE(full);
    CHECK(same(*simple, *full));
  }
  CHECK(direct > 500);
}

TEST_SUITE_END();

}  // namespace arena
