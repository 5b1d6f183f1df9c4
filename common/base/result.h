#pragma once
// One regime for failures of the runner: a function returns Result<T>, a value or an Error. Verdicts on
// kernels are no errors (model/task_result.h), and a bug in arena itself is ARENA_ASSERT, which stays on in
// release builds.
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace arena {

// The few kinds a caller acts on. Everything else is `io`.
enum class ErrorCode {
  invalid_input,  // the user's file, flag or value is wrong; exit code 2
  not_found,      // the path or name does not exist
  exists,         // a target that must not be replaced is there
  denied,         // permission
  busy,           // somebody else holds it (lock, device)
  no_space,       // disk, quota or inodes full
  corrupt,        // a file of ours that cannot be trusted: cut, damaged, foreign
  unsupported,    // understood, but not possible here
  refused,        // would lose or mix up results; the user has to decide
  timed_out,
  cancelled,  // asked to stop
  io,         // any other system or library failure
};

// `message` is one line without a full stop: what was attempted, on what, why.
struct Error {
  ErrorCode code = ErrorCode::io;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

// Maps errno to a code and appends its text: "cannot ACTION 'PATH': No space left on device".
Error error_from_errno(int error_number, std::string_view action, std::string_view path);

std::string_view name_of(ErrorCode code);

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace arena

#define ARENA_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::arena::assertion_failed(#condition, __FILE__, __LINE__))

// Returns the error of `expression` from the enclosing function.
#define ARENA_TRY(expression)                                                         \
  do {                                                                                \
    auto&& arena_try_result = (expression);                                           \
    if (!arena_try_result) return ::arena::fail(std::move(arena_try_result).error()); \
  } while (false)

#define ARENA_CONCAT_(a, b) a##b
#define ARENA_CONCAT(a, b) ARENA_CONCAT_(a, b)
// ARENA_ASSIGN(auto text, read_file(path)): declares `text` with the value, or returns the error.
#define ARENA_ASSIGN(declaration, expression) \
  ARENA_ASSIGN_(ARENA_CONCAT(arena_result_, __LINE__), declaration, expression)
#define ARENA_ASSIGN_(result, declaration, expression)          \
  auto result = (expression);                                   \
  if (!result) return ::arena::fail(std::move(result).error()); \
  declaration = std::move(*result)
