#include "fakes/memory_file_system.h"

#include <cerrno>

namespace arena {

namespace {

tl::unexpected<Error> failed(int error, std::string_view action, const fs::path& path) {
  return fail(error_from_errno(error, action, path.native()));
}

bool is_below(const fs::path& path, const fs::path& directory) {
  return path.native().compare(0, directory.native().size() + 1, directory.native() + "/") == 0;
}

}  // namespace

MemoryFileSystem::MemoryFileSystem() : root_(std::make_shared<Node>()) { root_->is_directory = true; }

Result<MemoryFileSystem::Place> MemoryFileSystem::find(const fs::path& path, std::string_view action) const {
  Place place{root_, "", root_};
  for (const fs::path& part : path) {
    const std::string& name = part.native();
    if (name == "/") continue;
    if (!place.node) return failed(ENOENT, action, path);
    if (!place.node->is_directory) return failed(ENOTDIR, action, path);
    if (name == "." || name.empty()) continue;
    const auto entry = place.node->entries.find(name);
    const NodePointer child = entry == place.node->entries.end() ? nullptr : entry->second;
    place = Place{place.node, name, child};
  }
  return place;
}

Result<std::string> MemoryFileSystem::read(const fs::path& file) {
  ARENA_ASSIGN(const Place place, find(file, "read"));
  if (!place.node) return failed(ENOENT, "read", file);
  if (place.node->is_directory)
    return fail(ErrorCode::corrupt, "cannot read '" + file.native() + "': not a regular file");
  return place.node->content;
}

Status MemoryFileSystem::create(const fs::path& file, std::string_view content, Sync sync) {
  ARENA_ASSIGN(const Place place, find(file, "create"));
  if (place.node) return failed(EEXIST, "create", file);
  const auto node = std::make_shared<Node>();
  node->content = content;
  if (sync == Sync::yes) node->synced_content = content;
  place.parent->entries.emplace(place.name, node);
  return {};
}

Status MemoryFileSystem::append(const fs::path& file, std::string_view content, Sync sync) {
  ARENA_ASSIGN(const Place place, find(file, "append to"));
  if (!place.node) return create(file, content, sync);
  if (place.node->is_directory) return failed(EISDIR, "append to", file);
  place.node->content += content;
  if (sync == Sync::yes) place.node->synced_content = place.node->content;
  return {};
}

Status MemoryFileSystem::rename(const fs::path& from, const fs::path& to, Replace replace) {
  ARENA_ASSIGN(const Place source, find(from, "rename"));
  if (!source.node) return failed(ENOENT, "rename", from);
  const Result<Place> found = find(to, "rename to");
  if (!found)
    return fail(ErrorCode::io, "cannot rename to '" + to.native() + "': the target's directory is missing");
  const Place& target = *found;
  if (source.node->is_directory && is_below(to, from)) return failed(EINVAL, "rename to", to);
  if (target.node && replace == Replace::no) return failed(EEXIST, "rename to", to);
  if (!target.node && replace == Replace::must) return failed(ENOENT, "rename to", to);
  if (target.node == source.node) return {};
  if (target.node) {
    if (target.node->is_directory && !source.node->is_directory) return failed(EISDIR, "rename to", to);
    if (!target.node->is_directory && source.node->is_directory) return failed(ENOTDIR, "rename to", to);
    if (!target.node->entries.empty()) return failed(ENOTEMPTY, "rename to", to);
  }
  source.parent->entries.erase(source.name);
  target.parent->entries.insert_or_assign(target.name, source.node);
  return {};
}

Status MemoryFileSystem::sync_directory(const fs::path& directory) {
  ARENA_ASSIGN(const Place place, find(directory, "sync"));
  if (!place.node) return failed(ENOENT, "sync", directory);
  if (!place.node->is_directory) return failed(ENOTDIR, "sync", directory);
  place.node->synced_entries = place.node->entries;
  return {};
}

Status MemoryFileSystem::sync_file_system(const fs::path& directory) {
  ARENA_ASSIGN(const Place place, find(directory, "sync the file system of"));
  if (!place.node) return failed(ENOENT, "sync the file system of", directory);
  sync_everything();
  return {};
}

Result<std::vector<std::string>> MemoryFileSystem::list(const fs::path& directory) {
  ARENA_ASSIGN(const Place place, find(directory, "list"));
  if (!place.node) return failed(ENOENT, "list", directory);
  if (!place.node->is_directory) return failed(ENOTDIR, "list", directory);
  std::vector<std::string> names;
  // Backwards: whoever relies on an order finds out here.
  for (auto entry = place.node->entries.rbegin(); entry != place.node->entries.rend(); ++entry)
    names.push_back(entry->first);
  return names;
}

Status MemoryFileSystem::remove(const fs::path& file) {
  ARENA_ASSIGN(const Place place, find(file, "remove"));
  if (!place.node) return failed(ENOENT, "remove", file);
  if (!place.node->entries.empty()) return failed(ENOTEMPTY, "remove", file);
  place.parent->entries.erase(place.name);
  return {};
}

Status MemoryFileSystem::make_directory(const fs::path& directory) {
  ARENA_ASSIGN(const Place place, find(directory, "create directory"));
  if (place.node) return failed(EEXIST, "create directory", directory);
  const auto node = std::make_shared<Node>();
  node->is_directory = true;
  place.parent->entries.emplace(place.name, node);
  return {};
}

Result<bool> MemoryFileSystem::exists(const fs::path& path) {
  const Result<Place> place = find(path, "look at");
  return place && place->node != nullptr;
}

void MemoryFileSystem::lose_power() { lose_unsynced(*root_); }

void MemoryFileSystem::lose_unsynced(Node& node) {
  node.content = node.synced_content;
  node.entries = node.synced_entries;
  for (const auto& [name, child] : node.entries) lose_unsynced(*child);
}

void MemoryFileSystem::sync_everything() { sync_below(*root_); }

void MemoryFileSystem::sync_below(Node& node) {
  node.synced_content = node.content;
  node.synced_entries = node.entries;
  for (const auto& [name, child] : node.entries) sync_below(*child);
}

}  // namespace arena
