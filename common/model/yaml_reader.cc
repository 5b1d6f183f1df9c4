// Typed views of parsed YAML: the conversions and MappingReader.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "model/yaml.h"

namespace arena {

namespace {

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::sequence:
      return "a list";
    case YamlNode::Kind::mapping:
      return "a mapping";
    case YamlNode::Kind::scalar:
      break;
  }
  std::string text = to_printable_utf8(node.scalar.substr(0, 60));
  if (const std::size_t end = text.find('\n'); end != std::string::npos) text.resize(end);
  return node.quoted ? fmt::format("the text \"{}\"", text) : fmt::format("'{}'", text);
}

tl::unexpected<Error> mismatch(std::string_view expected, const YamlNode& node) {
  return fail(ErrorCode::invalid_input, fmt::format("expected {}, not {}", expected, describe(node)));
}

bool is_plain(const YamlNode& node) { return node.kind == YamlNode::Kind::scalar && !node.quoted; }

// "010" is 8 to one reader and 10 to the next.
bool has_leading_zero(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

}  // namespace

Result<std::string> yaml_string(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar) return mismatch("a text", node);
  return node.scalar;
}

Result<std::int64_t> yaml_integer(const YamlNode& node) {
  const auto value =
      is_plain(node) && !has_leading_zero(node.scalar) ? parse_integer(node.scalar) : std::nullopt;
  if (!value) return mismatch("a whole number", node);
  return *value;
}

Result<double> yaml_double(const YamlNode& node) {
  if (!is_plain(node)) return mismatch("a number", node);
  std::string_view text = node.scalar;
  const bool negative = text.substr(0, 1) == "-";
  const bool is_signed = negative || text.substr(0, 1) == "+";
  const std::string_view word = text.substr(is_signed ? 1 : 0);
  const double sign = negative ? -1 : 1;
  if (equals_ignoring_case(word, ".inf")) return sign * std::numeric_limits<double>::infinity();
  if (!is_signed && equals_ignoring_case(word, ".nan")) return std::numeric_limits<double>::quiet_NaN();
  const auto value = has_leading_zero(text) ? std::nullopt : parse_double(text);
  if (!value || !std::isfinite(*value))
    return mismatch("a number", node);  // "inf" and "nan" without dot are words
  return *value;
}

Result<bool> yaml_bool(const YamlNode& node) {
  if (is_plain(node)) {
    for (const std::string_view word : {"true", "yes", "on"}) {
      if (equals_ignoring_case(node.scalar, word)) return true;
    }
    for (const std::string_view word : {"false", "no", "off"}) {
      if (equals_ignoring_case(node.scalar, word)) return false;
    }
  }
  return mismatch("true or false", node);
}

Result<std::vector<std::string>> yaml_string_list(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::sequence) return mismatch("a list of texts", node);
  std::vector<std::string> values;
  values.reserve(node.items.size());
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::scalar)
      return mismatch(fmt::format("a list of texts, in line {} a text", item.line), item);
    values.push_back(item.scalar);
  }
  return values;
}

MappingReader::MappingReader(const YamlNode& node, std::string name, std::string context)
    : node_(&node), name_(std::move(name)), context_(std::move(context)) {
  if (node.kind == YamlNode::Kind::mapping) return;
  const std::string problem = fmt::format("expected keys with values, not {}", describe(node));
  error_ = Error{ErrorCode::invalid_input, fmt::format("{}:{}: {}{}{}", name_, std::max(node.line, 1),
                                                       context_, context_.empty() ? "" : ": ", problem)};
}

std::string MappingReader::context_of(std::string_view key) const {
  return context_.empty() ? std::string(key) : fmt::format("{}.{}", context_, key);
}

int MappingReader::line_of(std::string_view key) const {
  for (const YamlEntry& entry : node_->entries) {
    if (entry.key == key) return entry.key_line;
  }
  return std::max(node_->line, 1);
}

void MappingReader::add_error(int line, std::string_view key, std::string_view problem) {
  if (error_) return;
  error_ =
      Error{ErrorCode::invalid_input, fmt::format("{}:{}: {}: {}", name_, line, context_of(key), problem)};
}

const YamlNode* MappingReader::node(std::string_view key) {
  known_.emplace_back(key);
  return node_->find(key);
}

template <class T>
std::optional<T> MappingReader::read(std::string_view key, Result<T> (*convert)(const YamlNode&)) {
  const YamlNode* value = node(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  Result<T> converted = convert(*value);
  if (!converted) {
    add_error(line_of(key), key, converted.error().message);
    return std::nullopt;
  }
  return std::move(*converted);
}

std::optional<std::string> MappingReader::string(std::string_view key) { return read(key, yaml_string); }
std::optional<bool> MappingReader::boolean(std::string_view key) { return read(key, yaml_bool); }
std::optional<double> MappingReader::number(std::string_view key) { return read(key, yaml_double); }

std::optional<std::int64_t> MappingReader::integer(std::string_view key, std::int64_t minimum,
                                                   std::int64_t maximum) {
  const auto value = read(key, yaml_integer);
  if (!value || (*value >= minimum && *value <= maximum)) return value;
  const std::string range = maximum == std::numeric_limits<std::int64_t>::max()
                                ? fmt::format("of at least {}", minimum)
                                : fmt::format("from {} to {}", minimum, maximum);
  add_error(line_of(key), key, fmt::format("expected a whole number {}, not {}", range, *value));
  return std::nullopt;
}

std::optional<std::vector<std::string>> MappingReader::string_list(std::string_view key) {
  return read<std::vector<std::string>>(key, [](const YamlNode& node) -> Result<std::vector<std::string>> {
    if (node.kind == YamlNode::Kind::scalar) return std::vector<std::string>{node.scalar};
    return yaml_string_list(node);
  });
}

std::string MappingReader::required_string(std::string_view key) {
  std::string value = string(key).value_or("");
  if (value.empty()) add_error(line_of(key), key, "required, but missing or empty");
  return value;
}

std::int64_t MappingReader::required_integer(std::string_view key, std::int64_t minimum,
                                             std::int64_t maximum) {
  const auto value = integer(key, minimum, maximum);
  if (!value) add_error(line_of(key), key, "required, but missing or empty");
  return value.value_or(minimum);
}

bool MappingReader::is_explicit_null(std::string_view key) {
  const YamlNode* value = node(key);
  return value != nullptr && value->is_null();
}

Status MappingReader::finish(UnknownKeys unknown, std::vector<std::string>* warnings) {
  for (const YamlEntry& entry : node_->entries) {
    if (unknown == UnknownKeys::ignore || error_) break;
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    const auto nearest = nearest_word(entry.key, known_);
    const std::string problem =
        nearest ? fmt::format("unknown key; did you mean {}?", context_of(*nearest)) : "unknown key";
    if (unknown == UnknownKeys::error) {
      add_error(entry.key_line, to_printable_utf8(entry.key), problem);
    } else if (warnings != nullptr) {
      warnings->push_back(fmt::format("{}:{}: {}: {}", name_, entry.key_line,
                                      context_of(to_printable_utf8(entry.key)), problem));
    }
  }
  if (error_) return fail(*error_);
  return {};
}

}  // namespace arena
