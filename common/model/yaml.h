#pragma once
// YAML in and out through yaml-cpp, which is touched nowhere else. Input is parsed by events into plain
// structs: no aliasing, safe to read from several threads, duplicate keys are errors, every node knows its
// line. Output is block style with strings double-quoted whenever any YAML 1.1 or 1.2 reader could take them
// for something else.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace arena {

struct YamlEntry;

struct YamlNode {
  enum class Kind { null, scalar, sequence, mapping };
  Kind kind = Kind::null;
  std::string scalar;
  bool quoted = false;  // a quoted or block scalar is a string, whatever it looks like
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;  // in file order
  int line = 0;                    // from 1

  const YamlNode* find(std::string_view key) const;  // null if absent or not a mapping
  bool is_null() const { return kind == Kind::null; }
};

struct YamlEntry {
  std::string key;
  int key_line = 0;
  YamlNode value;
};

// One document. Empty text is a null node; a second document, a duplicate key, an unknown alias, a complex
// key, a tag beyond the core schema, invalid UTF-8, what a cut file looks like (a key without ':', an open
// quote) or anything yaml-cpp rejects is invalid_input with "NAME:LINE: …". Aliases are expanded (bounded),
// merge keys (<<) applied.
Result<YamlNode> parse_yaml(std::string_view text, const std::string& name);

// Typed views of one node. Absent keys are the caller's business; a present value of the wrong type is an
// error text.
Result<std::string> yaml_string(const YamlNode& node);  // any scalar; null and collections are errors
Result<std::int64_t> yaml_integer(
    const YamlNode& node);                         // plain decimal; "010", "1_000", "0x1f", "1.0" are errors
Result<double> yaml_double(const YamlNode& node);  // plain; .inf and .nan included
Result<bool> yaml_bool(const YamlNode& node);      // plain true/false (any case), yes/no, on/off
Result<std::vector<std::string>> yaml_string_list(const YamlNode& node);  // a sequence of scalars

enum class UnknownKeys { error, warn, ignore };

// Reads the keys of one mapping and remembers which it was asked for. The first error sticks: later reads
// return defaults, and finish() returns it, as "NAME:LINE: KEY: what is wrong and what is expected".
class MappingReader {
 public:
  // `context` is the dotted path of the mapping ("agent", "" at top level). A null or non-mapping node is an
  // error.
  MappingReader(const YamlNode& node, std::string name, std::string context);
  MappingReader(YamlNode&& node, std::string name, std::string context) = delete;  // it keeps a reference

  const YamlNode* node(std::string_view key);               // null if absent; explicit null is a node
  std::optional<std::string> string(std::string_view key);  // null value counts as absent in all of these
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t minimum, std::int64_t maximum);
  std::optional<double> number(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  int line_of(std::string_view key) const;  // of the key, or of the mapping if it is absent
  std::optional<std::vector<std::string>> string_list(
      std::string_view key);                          // a single scalar counts as a list of one
  std::string required_string(std::string_view key);  // absent, null or empty is an error
  std::int64_t required_integer(std::string_view key, std::int64_t minimum, std::int64_t maximum);
  bool is_explicit_null(std::string_view key);
  void ignore(std::string_view key) { node(key); }     // known, but not read here
  std::string context_of(std::string_view key) const;  // the dotted path of a key of this mapping
  void add_error(int line, std::string_view key, std::string_view problem);

  // Unknown keys become errors or lines in *warnings, each naming the nearest known key.
  Status finish(UnknownKeys unknown, std::vector<std::string>* warnings);

 private:
  template <class T>
  std::optional<T> read(std::string_view key, Result<T> (*convert)(const YamlNode&));
  const YamlNode* node_;
  std::string name_;
  std::string context_;
  std::vector<std::string> known_;
  std::optional<Error> error_;
};

// Builds block-style YAML text, key by key in call order.
class YamlWriter {
 public:
  YamlWriter& null(std::string_view key);
  YamlWriter& string(
      std::string_view key,
      std::string_view value);  // made valid UTF-8; several lines become a "..." scalar with \n
  YamlWriter& literal(std::string_view key,
                      std::string_view text);  // a `|` block for text meant to be read by people
  YamlWriter& integer(std::string_view key, std::int64_t value);
  YamlWriter& number(std::string_view key,
                     double value);  // shortest text that reads back the same; always with . or e+
  YamlWriter& boolean(std::string_view key, bool value);
  YamlWriter& flow(std::string_view key,
                   std::string_view value);  // one line that is YAML already, such as canonical_json
  YamlWriter& string_list(std::string_view key, const std::vector<std::string>& values);  // [] when empty
  YamlWriter& begin_mapping(std::string_view key);
  YamlWriter& end_mapping();
  YamlWriter& begin_sequence(std::string_view key);
  YamlWriter& begin_item();  // a mapping as the next item of the open sequence
  YamlWriter& end_item();
  YamlWriter& end_sequence();
  YamlWriter& comment(std::string_view line);
  std::string take();  // the text; all mappings and sequences must be closed

 private:
  struct Level {
    int indent = 0;
    bool in_sequence = false;
    bool after_dash = false;  // an item whose first key goes on the line of its "- "
    bool empty = true;
  };
  void begin_line();
  void key(std::string_view key);
  void open(Level level);
  void close(bool sequence);
  std::string text_;
  std::vector<Level> levels_{Level{}};
};

// `text` as one YAML scalar on one line, quoted if needed. Invalid UTF-8 becomes U+FFFD, control characters
// are escaped.
std::string yaml_scalar(std::string_view text);

}  // namespace arena
