#include "base/result.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

namespace arena {

Error error_from_errno(int error_number, std::string_view action, std::string_view path) {
  ErrorCode code = ErrorCode::io;
  switch (error_number) {
    case ENOENT:
    case ESTALE:  // a network file system's way to say that the file went away
      code = ErrorCode::not_found;
      break;
    case EEXIST:
    case ENOTEMPTY:
      code = ErrorCode::exists;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = ErrorCode::denied;
      break;
    case ENOSPC:
    case EDQUOT:
      code = ErrorCode::no_space;
      break;
    case EBUSY:
    case EWOULDBLOCK:
      code = ErrorCode::busy;
      break;
    default:
      break;
  }
  return {code,
          fmt::format("cannot {} '{}': {}", action, path, std::generic_category().message(error_number))};
}

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_input:
      return "invalid_input";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::exists:
      return "exists";
    case ErrorCode::denied:
      return "denied";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::no_space:
      return "no_space";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::refused:
      return "refused";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::io:
      return "io";
  }
  return "io";
}

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "arena: bug: %s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace arena
