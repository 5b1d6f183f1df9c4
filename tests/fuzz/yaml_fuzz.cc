// Any bytes: no crash, the direct reader says what yaml-cpp says, and every text comes back from the writer.
#include <algorithm>
#include <cstdint>

#include "base/result.h"
#include "model/yaml.h"
#include "model/yaml_simple.h"

namespace {

using arena::YamlEntry;
using arena::YamlNode;

bool same(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.scalar != b.scalar || a.quoted != b.quoted || a.line != b.line) return false;
  const auto same_entry = [](const YamlEntry& x, const YamlEntry& y) {
    return x.key == y.key && x.key_line == y.key_line && same(x.value, y.value);
  };
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(), same_entry);
}

void check_texts(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::scalar) {
    const std::string text = arena::YamlWriter().string("v", node.scalar).literal("l", node.scalar).take();
    const auto back = arena::parse_yaml(text, "written");
    ARENA_ASSERT(back && back->find("v")->scalar == node.scalar && back->find("l")->scalar == node.scalar);
  }
  for (const YamlNode& item : node.items) check_texts(item);
  for (const YamlEntry& entry : node.entries) check_texts(entry.value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto full = arena::parse_full_yaml(text, "input");
  if (const auto simple = arena::parse_simple_yaml(text)) ARENA_ASSERT(full && same(*simple, *full));
  if (full) check_texts(*full);
  return 0;
}
