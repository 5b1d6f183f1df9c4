#pragma once
// A disk in memory, held to the rules of the real one (tests/contract): parents must exist, exclusive renames
// exclude. It knows what was synced: lose_power() goes back to that, names and contents separately, as
// cruelly as a disk may. Symbolic links do not exist on it.
#include <map>
#include <memory>

#include "os/file_system.h"

namespace arena {

class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem();

  Result<std::string> read(const fs::path& file) override;
  Status create(const fs::path& file, std::string_view content, Sync sync) override;
  Status append(const fs::path& file, std::string_view content, Sync sync) override;
  Status rename(const fs::path& from, const fs::path& to, Replace replace) override;
  Status sync_directory(const fs::path& directory) override;
  Status sync_file_system(const fs::path& directory) override;
  Result<std::vector<std::string>> list(const fs::path& directory) override;
  Status remove(const fs::path& file) override;
  Status make_directory(const fs::path& directory) override;
  Result<bool> exists(const fs::path& path) override;

  // A name is kept if its directory was synced since; a file's content as of its last sync (empty if never).
  void lose_power();
  // As if everything had been written long ago.
  void sync_everything();

 private:
  struct Node {
    bool is_directory = false;
    std::string content;
    std::string synced_content;
    std::map<std::string, std::shared_ptr<Node>> entries;
    std::map<std::string, std::shared_ptr<Node>> synced_entries;
  };
  using NodePointer = std::shared_ptr<Node>;

  struct Place {
    NodePointer parent;
    std::string name;
    NodePointer node;  // null: nothing of that name
  };
  Result<Place> find(const fs::path& path, std::string_view action) const;
  static void lose_unsynced(Node& node);
  static void sync_below(Node& node);

  NodePointer root_;
};

}  // namespace arena
