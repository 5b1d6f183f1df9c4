#include "device/probe/device_node.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace arena {

namespace {

bool is_in_group(gid_t group) {
  if (::getegid() == group) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

std::string explain_denial(const std::string& path, const struct stat& status, const std::string& group) {
  const bool allowed = ::geteuid() == 0 || (status.st_mode & S_IWOTH) != 0 ||
                       (is_in_group(status.st_gid) && (status.st_mode & S_IWGRP) != 0);
  if (allowed) {
    return fmt::format(
        "{} may not be opened although its mode allows it (group '{}', mode {:04o}): a container or a "
        "mount forbids the device",
        path, group, status.st_mode & 07777);
  }
  if (is_in_group(status.st_gid)) {
    return fmt::format("{} may not be opened: its mode {:04o} keeps out its own group '{}'", path,
                       status.st_mode & 07777, group);
  }
  return fmt::format(
      "{} may not be opened: this user is not in its group '{}' (gid {}); add it with usermod -aG {} and "
      "log in again",
      path, group, status.st_gid, group);
}

}  // namespace

DeviceNode look_at_device_node(const fs::path& root, const std::string& path) {
  const fs::path file = root / path.substr(1);
  DeviceNode node;
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    node.error = errno;
    node.message = node.error == ENOENT
                       ? fmt::format("{} does not exist", path)
                       : fmt::format("cannot look at {}: {}", path, std::strerror(node.error));
    return node;
  }
  const group* const entry = ::getgrgid(status.st_gid);
  node.group = entry != nullptr ? entry->gr_name : std::to_string(status.st_gid);
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (descriptor >= 0) {
    ::close(descriptor);
    return node;
  }
  node.error = errno;
  node.message =
      node.error == EACCES || node.error == EPERM
          ? explain_denial(path, status, node.group)
          : fmt::format("cannot open {}: {}; no driver answers there", path, std::strerror(node.error));
  return node;
}

}  // namespace arena
