// Block-style YAML that every reader of YAML 1.1 and 1.2 takes the same way.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "model/yaml.h"

namespace arena {

namespace {

// Words that some reader takes for a truth value, nothing or a number. Whatever starts with a digit, a sign
// or a dot is quoted anyway (sexagesimal times, octals, versions, dates, .inf).
constexpr std::array<std::string_view, 11> kReservedWords = {"y",    "n",     "yes",  "no",  "on", "off",
                                                             "true", "false", "null", "nan", "inf"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_safe_plain(std::string_view text) {
  if (text.empty() || text.back() == ' ' || !(is_letter(text[0]) || text[0] == '/' || text[0] == '_'))
    return false;
  for (const char c : text) {
    if (!is_letter(c) && !(c >= '0' && c <= '9') &&
        std::string_view("_./-+ ,()=@%").find(c) == std::string_view::npos)
      return false;
  }
  for (const std::string_view word : kReservedWords) {
    if (equals_ignoring_case(text, word)) return false;
  }
  return true;
}

// Code points that are legal in UTF-8 but that YAML readers reject or take for a line break.
bool needs_escape(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x2028 || point == 0x2029 ||
         point == 0xFEFF || (point & 0xFFFE) == 0xFFFE;
}

char32_t decode(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  char32_t point = byte(0) & (0xFF >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) point = (point << 6) | (byte(i) & 0x3F);
  return point;
}

std::string escape(char32_t point) {
  if (point == '\n') return "\\n";
  if (point == '\t') return "\\t";
  if (point == '\r') return "\\r";
  if (point < 0x100) return fmt::format("\\x{:02X}", static_cast<unsigned>(point));
  if (point < 0x10000) return fmt::format("\\u{:04X}", static_cast<unsigned>(point));
  return fmt::format("\\U{:08X}", static_cast<unsigned>(point));
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    const char32_t point = length == 0 ? U'\uFFFD' : decode(sequence);
    if (length == 0) {
      quoted += "\xEF\xBF\xBD";
    } else if (point == '"' || point == '\\') {
      quoted += '\\';
      quoted += sequence;
    } else if (needs_escape(point)) {
      quoted += escape(point);
    } else {
      quoted += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return quoted + '"';
}

bool fits_literal_block(std::string_view text) {
  if (text.find_first_not_of('\n') == std::string_view::npos) return false;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0) return false;
    const char32_t point = decode(text.substr(0, length));
    if (point != '\n' && point != '\t' && needs_escape(point)) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string number_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::string text = fmt::format("{}", value);
  const std::size_t exponent = text.find('e');
  // YAML 1.1 readers want a point in every real number, "1e+22" is a text to them.
  if (text.find('.') == std::string::npos) text.insert(std::min(exponent, text.size()), ".0");
  return text;
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
  return is_safe_plain(text) ? std::string(text) : quote(text);
}

void YamlWriter::begin_line() {
  Level& level = levels_.back();
  if (level.after_dash) {
    level.after_dash = false;
  } else {
    // The line of the key or dash that opened this level is still waiting for its end.
    if (level.empty && levels_.size() > 1) text_ += '\n';
    text_.append(static_cast<std::size_t>(level.indent), ' ');
  }
  level.empty = false;
}

void YamlWriter::key(std::string_view key) {
  ARENA_ASSERT(!levels_.back().in_sequence);
  begin_line();
  text_ += yaml_scalar(key);
  text_ += ':';
}

void YamlWriter::open(Level level) { levels_.push_back(level); }

void YamlWriter::close(bool sequence) {
  ARENA_ASSERT(levels_.size() > 1 && levels_.back().in_sequence == sequence);
  const Level closed = levels_.back();
  levels_.pop_back();
  if (!closed.empty) return;
  if (closed.after_dash) {
    text_ += "{}\n";
  } else {
    text_ += sequence ? " []\n" : " {}\n";
  }
}

YamlWriter& YamlWriter::null(std::string_view name) {
  key(name);
  text_ += " null\n";
  return *this;
}

YamlWriter& YamlWriter::string(std::string_view name, std::string_view value) {
  key(name);
  text_ += ' ';
  text_ += yaml_scalar(value);
  text_ += '\n';
  return *this;
}

YamlWriter& YamlWriter::literal(std::string_view name, std::string_view text) {
  if (!fits_literal_block(text)) return string(name, text);
  key(name);
  text_ += " |";
  if (text[0] == ' ' || text[0] == '\n' || text[0] == '\t')
    text_ += '2';  // else the first line would set the indentation
  const bool ends_line = text.back() == '\n';
  const bool ends_blank = ends_line && text.size() > 1 && text[text.size() - 2] == '\n';
  if (!ends_line) text_ += '-';
  if (ends_blank) text_ += '+';
  text_ += '\n';
  const std::size_t indent = static_cast<std::size_t>(levels_.back().indent) + 2;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) text_.append(indent, ' ');
    text_ += text.substr(begin, end - begin);
    text_ += '\n';
    begin = end + 1;
  }
  return *this;
}

YamlWriter& YamlWriter::integer(std::string_view name, std::int64_t value) {
  key(name);
  text_ += fmt::format(" {}\n", value);
  return *this;
}

YamlWriter& YamlWriter::number(std::string_view name, double value) {
  key(name);
  text_ += fmt::format(" {}\n", number_text(value));
  return *this;
}

YamlWriter& YamlWriter::boolean(std::string_view name, bool value) {
  key(name);
  text_ += value ? " true\n" : " false\n";
  return *this;
}

YamlWriter& YamlWriter::flow(std::string_view name, std::string_view value) {
  ARENA_ASSERT(!value.empty() && value.find('\n') == std::string_view::npos);
  key(name);
  text_ += fmt::format(" {}\n", value);
  return *this;
}

YamlWriter& YamlWriter::string_list(std::string_view name, const std::vector<std::string>& values) {
  key(name);
  if (values.empty()) text_ += " []";
  text_ += '\n';
  const std::size_t indent = static_cast<std::size_t>(levels_.back().indent) + 2;
  for (const std::string& value : values) {
    text_.append(indent, ' ');
    text_ += "- ";
    text_ += yaml_scalar(value);
    text_ += '\n';
  }
  return *this;
}

YamlWriter& YamlWriter::begin_mapping(std::string_view name) {
  key(name);
  open({levels_.back().indent + 2, false, false, true});
  return *this;
}

YamlWriter& YamlWriter::end_mapping() {
  close(false);
  return *this;
}

YamlWriter& YamlWriter::begin_sequence(std::string_view name) {
  key(name);
  open({levels_.back().indent + 2, true, false, true});
  return *this;
}

YamlWriter& YamlWriter::begin_item() {
  ARENA_ASSERT(levels_.back().in_sequence);
  begin_line();
  text_ += "- ";
  open({levels_.back().indent + 2, false, true, true});
  return *this;
}

YamlWriter& YamlWriter::end_item() {
  close(false);
  return *this;
}

YamlWriter& YamlWriter::end_sequence() {
  close(true);
  return *this;
}

YamlWriter& YamlWriter::comment(std::string_view line) {
  ARENA_ASSERT(levels_.size() == 1);
  for (const std::string& piece : split(to_printable_utf8(line), "\n")) text_ += fmt::format("# {}\n", piece);
  return *this;
}

std::string YamlWriter::take() {
  ARENA_ASSERT(levels_.size() == 1);
  levels_ = {Level{}};
  return std::move(text_);
}

}  // namespace arena
