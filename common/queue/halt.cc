#include "queue/halt.h"

#include <utility>

#include "model/yaml.h"

namespace arena {

namespace {

Result<Halt> parse_halt(const std::string& text, const std::string& name) {
  ARENA_ASSIGN(const YamlNode root, parse_yaml(text, name));
  MappingReader reader(root, name, "");
  Halt halt;
  halt.by = reader.string("by").value_or("");
  halt.cause = reader.string("cause").value_or("");
  halt.message = reader.string("message").value_or("");
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr));
  return halt;
}

}  // namespace

Status request_halt(FileSystem& disk, const fs::path& halt_file, const Halt& halt) {
  const std::string text =
      YamlWriter().string("by", halt.by).string("cause", halt.cause).string("message", halt.message).take();
  auto published = publish(disk, halt_file, text, Sync::no, Replace::no);
  if (!published && published.error().code == ErrorCode::exists) return {};
  return published;
}

Result<std::optional<Halt>> read_halt(FileSystem& disk, const fs::path& halt_file) {
  auto text = disk.read(halt_file);
  if (!text && text.error().code == ErrorCode::not_found) return std::optional<Halt>();
  if (!text) return fail(std::move(text).error());
  auto halt = parse_halt(*text, halt_file.string());
  if (!halt) return std::optional<Halt>(Halt{"", "", std::move(halt).error().message});
  return std::optional<Halt>(std::move(*halt));
}

Status clear_halt(FileSystem& disk, const fs::path& halt_file) {
  auto removed = disk.remove(halt_file);
  if (!removed && removed.error().code == ErrorCode::not_found) return {};
  return removed;
}

}  // namespace arena
