#include "model/yaml_simple.h"

#include <algorithm>
#include <array>

namespace arena {

namespace {

constexpr std::size_t kMaximumKeys = 64;  // of one mapping: the search for duplicates is quadratic
constexpr int kMaximumDepth = 8;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_printable(char c) { return c >= ' ' && c <= '~'; }

bool is_null_word(std::string_view text) {
  return text == "~" || text == "null" || text == "Null" || text == "NULL";
}

struct Line {
  std::size_t indent = 0;
  std::string_view content;  // without indentation; never empty, never a comment
  int number = 0;
};

class SimpleReader {
 public:
  explicit SimpleReader(std::string_view text) : rest_(text) { advance(); }

  // Every function answers false for "leave it to yaml-cpp".
  bool read_document(YamlNode& root) {
    return ok_ && !ended_ && line_.indent == 0 && read_mapping(0, 1, root) && ok_ && ended_;
  }

 private:
  void advance() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      std::string_view content = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (!std::all_of(content.begin(), content.end(), is_printable)) {
        ok_ = false;
        break;
      }
      const std::size_t indent = content.find_first_not_of(' ');
      if (indent == std::string_view::npos || content[indent] == '#') continue;
      content.remove_prefix(indent);
      content.remove_suffix(content.size() - 1 - content.find_last_not_of(' '));
      line_ = {indent, content, number_};
      return;
    }
    ended_ = true;
  }

  bool has_line(std::size_t indent) const { return ok_ && !ended_ && line_.indent == indent; }
  bool is_deeper(std::size_t indent) const { return !ended_ && line_.indent > indent; }
  bool at_item() const {
    return line_.content[0] == '-' && line_.content.size() > 1 && line_.content[1] == ' ';
  }

  bool read_mapping(std::size_t indent, int depth, YamlNode& mapping) {
    if (depth > kMaximumDepth) return false;
    mapping.kind = YamlNode::Kind::mapping;
    mapping.line = line_.number;
    while (has_line(indent)) {
      const std::string_view content = line_.content;
      std::size_t end = 0;
      while (end < content.size() && (is_alphanumeric(content[end]) || content[end] == '_')) ++end;
      if (end == 0 || end >= content.size() || content[end] != ':') return false;
      const std::string_view key = content.substr(0, end);
      if (is_null_word(key) || mapping.find(key) != nullptr || mapping.entries.size() >= kMaximumKeys)
        return false;
      mapping.entries.push_back({std::string(key), line_.number, {}});
      if (!read_value(content.substr(end + 1), indent, depth, mapping.entries.back().value)) return false;
    }
    return ok_ && !is_deeper(indent);
  }

  // What follows "key:", on its line or below it.
  bool read_value(std::string_view text, std::size_t indent, int depth, YamlNode& value) {
    value.line = line_.number;
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == 0) return false;  // "a:b" is no key
    if (begin != std::string_view::npos && text[begin] != '#')
      return read_scalar(text.substr(begin), indent, value);
    advance();
    if (!ok_) return false;
    if (has_line(indent) && at_item()) return read_sequence(indent, value);
    if (!is_deeper(indent)) return true;  // null
    return at_item() ? read_sequence(line_.indent, value) : read_mapping(line_.indent, depth + 1, value);
  }

  bool read_sequence(std::size_t indent, YamlNode& sequence) {
    sequence.kind = YamlNode::Kind::sequence;
    sequence.line = line_.number;
    while (has_line(indent) && at_item()) {
      const std::size_t begin = line_.content.find_first_not_of(' ', 1);
      YamlNode& item = sequence.items.emplace_back();
      item.line = line_.number;
      if (!read_scalar(line_.content.substr(begin), indent, item)) return false;
    }
    return ok_ && !is_deeper(indent);
  }

  // A scalar that ends with its line; a deeper next line would continue it.
  bool read_scalar(std::string_view text, std::size_t indent, YamlNode& value) {
    const char first = text[0];
    bool understood = false;
    if (first == '"' || first == '\'') {
      understood = read_quoted(text, value);
    } else if (text == "[]" || text == "{}") {
      value.kind = first == '[' ? YamlNode::Kind::sequence : YamlNode::Kind::mapping;
      understood = true;
    } else {
      understood = read_plain(text, value);
    }
    if (!understood) return false;
    advance();
    return ok_ && !is_deeper(indent);
  }

  static bool read_plain(std::string_view text, YamlNode& value) {
    const char first = text[0];
    const bool is_negative_number = first == '-' && text.size() > 1 && text[1] >= '0' && text[1] <= '9';
    if (!is_alphanumeric(first) && !is_negative_number && first != '_' && first != '/' && first != '.' &&
        first != '~')
      return false;
    if (const std::size_t comment = text.find(" #"); comment != std::string_view::npos) {
      text = text.substr(0, text.find_last_not_of(' ', comment) + 1);
    }
    if (text.back() == ':' || text.find(": ") != std::string_view::npos) return false;
    if (is_null_word(text)) return true;
    value.kind = YamlNode::Kind::scalar;
    value.scalar = text;
    return true;
  }

  static bool read_quoted(std::string_view text, YamlNode& value) {
    const char quote = text[0];
    std::string scalar;
    std::size_t i = 1;
    for (; i < text.size() && text[i] != quote; ++i) {
      char c = text[i];
      if (quote == '"' && c == '\\') {
        if (++i == text.size()) return false;
        constexpr std::array<std::pair<char, char>, 4> kEscapes{
            {{'"', '"'}, {'\\', '\\'}, {'n', '\n'}, {'t', '\t'}}};
        const auto* const found =
            std::find_if(kEscapes.begin(), kEscapes.end(), [&](const auto& e) { return e.first == text[i]; });
        if (found == kEscapes.end()) return false;
        c = found->second;
      }
      scalar += c;
    }
    if (i >= text.size()) return false;
    const std::string_view behind = text.substr(i + 1);
    if (!behind.empty() && behind.substr(0, 2) != " #") return false;  // '' and what is no comment
    value.kind = YamlNode::Kind::scalar;
    value.quoted = true;
    value.scalar = std::move(scalar);
    return true;
  }

  std::string_view rest_;
  Line line_;
  int number_ = 0;
  bool ok_ = true;
  bool ended_ = false;
};

}  // namespace

std::optional<YamlNode> parse_simple_yaml(std::string_view text) {
  YamlNode root;
  if (!SimpleReader(text).read_document(root)) return std::nullopt;
  return root;
}

}  // namespace arena
