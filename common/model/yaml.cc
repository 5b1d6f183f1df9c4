#include "model/yaml.h"

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/text.h"
#include "model/yaml_simple.h"

namespace arena {

namespace {

constexpr std::size_t kMaximumDepth = 100;
constexpr std::size_t kMaximumExpansion = 100'000;  // nodes (or 64 bytes of text each) that aliases may add
constexpr const char* kOpenQuote = "a quote is opened and never closed";
constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

std::size_t cost_of(const YamlNode& node) {
  std::size_t cost = 1 + node.scalar.size() / 64;
  for (const YamlNode& item : node.items) cost += cost_of(item);
  for (const YamlEntry& entry : node.entries) cost += 1 + entry.key.size() / 64 + cost_of(entry.value);
  return cost;
}

// yaml-cpp expands the escapes \N and \_ to single bytes of Latin-1, the only way to invalid UTF-8 from valid
// input.
std::string repaired_utf8(const std::string& text) {
  std::string repaired;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_sequence_length(std::string_view(text).substr(i));
    if (length == 0) repaired += '\xC2';
    repaired.append(text, i, std::max<std::size_t>(length, 1));
    i += std::max<std::size_t>(length, 1);
  }
  return repaired;
}

// Builds the tree from yaml-cpp's events. Reports what is wrong by throwing yaml-cpp's own exception, which
// parse_yaml catches.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      throw YAML::ParserException(mark, "a second document starts here; one file holds one document");
  }
  // A quoted scalar that is never closed ends at the end of the file without complaint from yaml-cpp: a file
  // was cut.
  void OnDocumentEnd() override {
    if (has_scalar_ && end_of_quoted(offset(last_scalar_)) == std::string_view::npos) {
      throw YAML::ParserException(last_scalar_, kOpenQuote);
    }
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node = make_node(YamlNode::Kind::null, mark);
    if (!levels_.empty() && levels_.back().has_key) {
      require_colon();
      node.line = levels_.back().key_mark.line + 1;  // yaml-cpp marks an absent value at the token after it
    }
    add(std::move(node), anchor, mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make_node(YamlNode::Kind::scalar, mark);
    node.scalar = repaired_utf8(value);
    node.quoted = tag == "!" || core_tag(tag, mark) == "str";
    last_scalar_ = mark;
    has_scalar_ = true;
    add(std::move(node), anchor, mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end())
      throw YAML::ParserException(mark, "this alias refers to a node that contains it");
    spend(cost_of(found->second), mark);
    add(found->second, 0, mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    core_tag(tag, mark);
    open(YamlNode::Kind::sequence, anchor, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    core_tag(tag, mark);
    open(YamlNode::Kind::mapping, anchor, mark);
  }
  void OnMapEnd() override {
    apply_merges(levels_.back());
    reject_duplicates(levels_.back().node);
    close();
  }

 private:
  struct Level {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    YAML::Mark mark;
    bool has_key = false;  // a key was read, its value comes next
    bool key_is_merge = false;
    YAML::Mark key_mark;
    std::string key;
    std::vector<YamlNode> merges;
  };

  static YamlNode make_node(YamlNode::Kind kind, const YAML::Mark& mark) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    return node;
  }

  // The name of a tag of the core schema, empty for the implicit ones.
  static std::string_view core_tag(const std::string& tag, const YAML::Mark& mark) {
    if (tag.empty() || tag == "?" || tag == "!") return {};
    if (tag.compare(0, kTagPrefix.size(), kTagPrefix) == 0) {
      const std::string_view name = std::string_view(tag).substr(kTagPrefix.size());
      for (const std::string_view known : {"str", "int", "float", "bool", "null", "seq", "map"}) {
        if (name == known) return name;
      }
    }
    throw YAML::ParserException(mark, fmt::format("the tag '{}' is not supported", tag));
  }

  void open(YamlNode::Kind kind, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (levels_.size() >= kMaximumDepth) throw YAML::ParserException(mark, "nested too deeply");
    if (!levels_.empty() && levels_.back().node.kind == YamlNode::Kind::mapping && !levels_.back().has_key) {
      throw YAML::ParserException(mark, "a key must be a plain name, not a list or a mapping");
    }
    Level level;
    level.node = make_node(kind, mark);
    level.anchor = anchor;
    level.mark = mark;
    levels_.push_back(std::move(level));
  }

  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    add(std::move(level.node), level.anchor, level.mark);
  }

  void spend(std::size_t cost, const YAML::Mark& mark) {
    spent_ += cost;
    if (spent_ > kMaximumExpansion) throw YAML::ParserException(mark, "aliases expand to too much");
  }

  void add(YamlNode node, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (anchor != 0) {
      spend(cost_of(node), mark);  // nested anchors copy their contents once a level
      anchored_[anchor] = node;
    }
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.kind == YamlNode::Kind::sequence) {
      level.node.items.push_back(std::move(node));
    } else if (!level.has_key) {
      if (node.kind != YamlNode::Kind::scalar)
        throw YAML::ParserException(mark, "a key is missing before ':'");
      level.has_key = true;
      level.key_is_merge = node.scalar == "<<" && !node.quoted;
      level.key_mark = mark;
      level.key = std::move(node.scalar);
    } else {
      level.has_key = false;
      if (level.key_is_merge) {
        collect_merge(level, std::move(node), mark);
      } else {
        level.node.entries.push_back({std::move(level.key), level.key_mark.line + 1, std::move(node)});
      }
    }
  }

  static void collect_merge(Level& level, YamlNode node, const YAML::Mark& mark) {
    std::vector<YamlNode> sources;
    if (node.kind == YamlNode::Kind::sequence) {
      sources = std::move(node.items);
    } else {
      sources.push_back(std::move(node));
    }
    for (YamlNode& source : sources) {
      if (source.kind != YamlNode::Kind::mapping)
        throw YAML::ParserException(mark, "'<<' needs a mapping or a list of mappings");
      level.merges.push_back(std::move(source));
    }
  }

  // The mapping's own keys win over merged ones, earlier merges over later ones.
  static void apply_merges(Level& level) {
    for (YamlNode& merge : level.merges) {
      for (YamlEntry& entry : merge.entries) {
        if (level.node.find(entry.key) == nullptr) level.node.entries.push_back(std::move(entry));
      }
    }
  }

  static void reject_duplicates(const YamlNode& mapping) {
    std::vector<const YamlEntry*> sorted;
    sorted.reserve(mapping.entries.size());
    for (const YamlEntry& entry : mapping.entries) sorted.push_back(&entry);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->key < b->key; });
    const auto twin = std::adjacent_find(sorted.begin(), sorted.end(),
                                         [](const auto* a, const auto* b) { return a->key == b->key; });
    if (twin == sorted.end()) return;
    YAML::Mark mark;
    mark.line = (*(twin + 1))->key_line - 1;
    throw YAML::ParserException(
        mark, fmt::format("duplicate key '{}', first given in line {}", (*twin)->key, (*twin)->key_line));
  }

  // yaml-cpp takes the last line of a mapping without its ':' for a key with a null value.
  void require_colon() {
    const Level& level = levels_.back();
    const std::size_t begin = offset(level.key_mark);
    std::size_t end = std::string_view::npos;
    if (begin < text_.size() && (text_[begin] == '"' || text_[begin] == '\'')) {
      end = end_of_quoted(begin);
    } else if (begin < text_.size() && text_.substr(begin, level.key.size()) == level.key) {
      end = begin + level.key.size();
    }
    if (end != std::string_view::npos) end = text_.find_first_not_of(" \t", end);
    if (end == std::string_view::npos || text_[end] != ':') {
      throw YAML::ParserException(level.key_mark, fmt::format("there is no ':' after '{}'", level.key));
    }
  }

  std::size_t offset(const YAML::Mark& mark) const {
    std::size_t position = static_cast<std::size_t>(mark.pos);
    // The mark of a node with an anchor or a tag is that of the first of them.
    while (position < text_.size() && (text_[position] == '&' || text_[position] == '!')) {
      position = text_.find_first_of(" \t\r\n", position);
      position = std::min(text_.size(), text_.find_first_not_of(" \t\r\n", position));
    }
    return position;
  }

  // Behind the closing quote of the scalar at `begin`, npos if it has none. Block scalars are whole at any
  // length.
  std::size_t end_of_quoted(std::size_t begin) const {
    if (begin >= text_.size()) return std::string_view::npos;
    const char quote = text_[begin];
    if (quote != '"' && quote != '\'') return begin;
    for (std::size_t i = begin + 1; i < text_.size(); ++i) {
      if (quote == '"' && text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        if (quote == '"' || i + 1 >= text_.size() || text_[i + 1] != quote) return i + 1;
        ++i;  // '' is a quote inside single quotes
      }
    }
    return std::string_view::npos;
  }

  std::string_view text_;
  YamlNode root_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, YamlNode> anchored_;
  YAML::Mark last_scalar_;
  std::size_t spent_ = 0;
  int documents_ = 0;
  bool has_scalar_ = false;
};

// yaml-cpp reads 0x04 as the end of the file and repairs broken UTF-8 silently: both would change what a file
// says.
Status check_characters(std::string_view text, const std::string& name) {
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') ++line;
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) {
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}:{}: a control character (0x{:02x}) is not allowed", name, line, byte));
    }
    const std::size_t length = byte < 0x80 ? 1 : utf8_sequence_length(text.substr(i));
    if (length == 0) return fail(ErrorCode::invalid_input, fmt::format("{}:{}: not valid UTF-8", name, line));
    i += length;
  }
  return {};
}

std::string_view explain(const YAML::Exception& error) {
  if (error.msg == "bad file")
    return "nested too deeply";  // what yaml-cpp says when its own limit is reached first
  if (error.msg == "illegal EOF in scalar") return kOpenQuote;
  if (error.msg == "illegal map value") return "unexpected ':' (quotes missing, or wrong indentation?)";
  return error.msg;
}

}  // namespace

Result<YamlNode> parse_yaml(std::string_view text, const std::string& name) {
  if (auto simple = parse_simple_yaml(text)) return std::move(*simple);
  return parse_full_yaml(text, name);
}

Result<YamlNode> parse_full_yaml(std::string_view text, const std::string& name) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  ARENA_TRY(check_characters(text, name));
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder(text);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take_root();
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::invalid_input,
                fmt::format("{}:{}: {}", name, error.mark.line + 1, explain(error)));
  } catch (const std::exception& error) {
    return fail(ErrorCode::invalid_input, fmt::format("{}: cannot be read as YAML: {}", name, error.what()));
  }
}

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

}  // namespace arena
