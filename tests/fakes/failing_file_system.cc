#include "fakes/failing_file_system.h"

#include <algorithm>
#include <utility>

namespace arena {

void FailingFileSystem::fail_at(Fault fault) {
  reset();
  fault_ = std::move(fault);
}

void FailingFileSystem::reset() {
  fault_.reset();
  calls_ = 0;
  has_failed_ = false;
  log_.clear();
}

template <class Call>
auto FailingFileSystem::pass(const std::string& kind, const std::string& arguments, const Call& call)
    -> decltype(call()) {
  log_.push_back(kind + ' ' + arguments);
  const bool counts = !fault_ || fault_->kinds.empty() ||
                      std::find(fault_->kinds.begin(), fault_->kinds.end(), kind) != fault_->kinds.end();
  if (!counts) return call();
  ++calls_;
  if (!fault_ || calls_ < fault_->call || (calls_ > fault_->call && !fault_->all_later_too)) return call();
  has_failed_ = true;
  if (calls_ == fault_->call && fault_->when == When::after) static_cast<void>(call());
  return fail(fault_->code, "cannot " + kind + " '" + arguments + "': the test wants it so");
}

Result<std::string> FailingFileSystem::read(const fs::path& file) {
  return pass("read", file.native(), [&] { return disk_.read(file); });
}
Status FailingFileSystem::create(const fs::path& file, std::string_view content, Sync sync) {
  return pass("create", file.native(), [&] { return disk_.create(file, content, sync); });
}
Status FailingFileSystem::append(const fs::path& file, std::string_view content, Sync sync) {
  return pass("append", file.native(), [&] { return disk_.append(file, content, sync); });
}
Status FailingFileSystem::rename(const fs::path& from, const fs::path& to, Replace replace) {
  return pass("rename", from.native() + ' ' + to.native(), [&] { return disk_.rename(from, to, replace); });
}
Status FailingFileSystem::sync_directory(const fs::path& directory) {
  return pass("sync", directory.native(), [&] { return disk_.sync_directory(directory); });
}
Status FailingFileSystem::sync_file_system(const fs::path& directory) {
  return pass("sync", directory.native(), [&] { return disk_.sync_file_system(directory); });
}
Result<std::vector<std::string>> FailingFileSystem::list(const fs::path& directory) {
  return pass("list", directory.native(), [&] { return disk_.list(directory); });
}
Status FailingFileSystem::remove(const fs::path& file) {
  return pass("remove", file.native(), [&] { return disk_.remove(file); });
}
Status FailingFileSystem::make_directory(const fs::path& directory) {
  return pass("mkdir", directory.native(), [&] { return disk_.make_directory(directory); });
}
Result<bool> FailingFileSystem::exists(const fs::path& path) {
  return pass("exists", path.native(), [&] { return disk_.exists(path); });
}

}  // namespace arena
