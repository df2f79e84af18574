// Errors as values: makers for absl::Status and the macros that pass them up.
//
// Codes mean one thing throughout: kInvalidArgument the caller's input; kDataLoss wrong bytes on
// disk; kUnavailable worth a retry; kResourceExhausted a limit; kCancelled; kDeadlineExceeded;
// kNotFound; kFailedPrecondition wrong state; kInternal a bug.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/strings.h"

namespace narthex::base {

// A status of `code` whose message is the pieces joined: "what failed: field=value ...".
template <typename... Pieces>
absl::Status MakeStatus(absl::StatusCode code, const Pieces&... pieces) {
  return absl::Status(code, StrCat(pieces...));
}
template <typename... Pieces>
absl::Status InvalidArgument(const Pieces&... pieces) {
  return MakeStatus(absl::StatusCode::kInvalidArgument, pieces...);
}
template <typename... Pieces>
absl::Status DataLoss(const Pieces&... pieces) {
  return MakeStatus(absl::StatusCode::kDataLoss, pieces...);
}
template <typename... Pieces>
absl::Status Unavailable(const Pieces&... pieces) {
  return MakeStatus(absl::StatusCode::kUnavailable, pieces...);
}
template <typename... Pieces>
absl::Status ResourceExhausted(const Pieces&... pieces) {
  return MakeStatus(absl::StatusCode::kResourceExhausted, pieces...);
}
template <typename... Pieces>
absl::Status NotFound(const Pieces&... pieces) {
  return MakeStatus(absl::StatusCode::kNotFound, pieces...);
}
template <typename... Pieces>
absl::Status FailedPrecondition(const Pieces&... pieces) {
  return MakeStatus(absl::StatusCode::kFailedPrecondition, pieces...);
}
template <typename... Pieces>
absl::Status Internal(const Pieces&... pieces) {
  return MakeStatus(absl::StatusCode::kInternal, pieces...);
}
template <typename... Pieces>
absl::Status Cancelled(const Pieces&... pieces) {
  return MakeStatus(absl::StatusCode::kCancelled, pieces...);
}
template <typename... Pieces>
absl::Status DeadlineExceeded(const Pieces&... pieces) {
  return MakeStatus(absl::StatusCode::kDeadlineExceeded, pieces...);
}

// Takes a failed system call's errno into a status: ENOSPC and EDQUOT are kResourceExhausted,
// ENOENT kNotFound, everything else kUnavailable. `what` says what failed, with the path.
absl::Status ErrnoStatus(int error_number, std::string_view what);

// The message of a status as std::string_view; valid as long as the status.
inline std::string_view Message(const absl::Status& status) { return ToStd(status.message()); }

// `status` with `context` and ": " before its message; OK stays OK.
absl::Status WithContext(const absl::Status& status, std::string_view context);

// Drops a result on purpose; `why` is for the reader.
inline void IgnoreError(const absl::Status& /*status*/, const char* /*why*/) {}

}  // namespace narthex::base

#define NX_STATUS_CONCAT_INNER(a, b) a##b
#define NX_STATUS_CONCAT(a, b) NX_STATUS_CONCAT_INNER(a, b)

// Returns the status of `expr` from the function if it is not OK.
#define NX_RETURN_IF_ERROR(expr)                                       \
  do {                                                                 \
    if (absl::Status nx_status = (expr); !nx_status.ok()) [[unlikely]] \
      return nx_status;                                                \
  } while (false)

// `lhs` (a declaration or an lvalue) takes the value of the StatusOr `expr`, or its status returns.
#define NX_ASSIGN_OR_RETURN(lhs, expr) \
  NX_ASSIGN_OR_RETURN_IMPL(NX_STATUS_CONCAT(nx_statusor_, __LINE__), lhs, expr)
#define NX_ASSIGN_OR_RETURN_IMPL(var, lhs, expr) \
  auto var = (expr);                             \
  if (!var.ok()) [[unlikely]]                    \
    return var.status();                         \
  lhs = std::move(var).value()
