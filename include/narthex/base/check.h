// Checks for what only a bug can cause. NX_CHECK is on in every build and ends the process; bytes
// from outside never reach one. NX_DCHECK guards what is cheaper than its check: dev builds only.
#pragma once

#include <string>

#include "narthex/base/strings.h"

namespace narthex::base::internal {

// Prints file, line and message to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const std::string& message);

template <typename Value>
std::string CheckText(const Value& value) {
  if constexpr (std::is_arithmetic_v<Value> || std::is_convertible_v<Value, std::string_view>) {
    return StrCat(value);
  } else if constexpr (std::is_enum_v<Value>) {
    return StrCat(static_cast<int64_t>(value));
  } else {
    return "?";
  }
}

}  // namespace narthex::base::internal

#define NX_CHECK(condition)                                                                    \
  do {                                                                                         \
    if (!(condition)) [[unlikely]]                                                             \
      ::narthex::base::internal::CheckFailed(__FILE__, __LINE__, "check failed: " #condition); \
  } while (false)

#define NX_CHECK_OP(a, op, b)                                                         \
  do {                                                                                \
    const auto& nx_a = (a);                                                           \
    const auto& nx_b = (b);                                                           \
    if (!(nx_a op nx_b)) [[unlikely]]                                                 \
      ::narthex::base::internal::CheckFailed(                                         \
          __FILE__, __LINE__,                                                         \
          ::narthex::base::StrCat("check failed: " #a " " #op " " #b ": ",            \
                                  ::narthex::base::internal::CheckText(nx_a), " vs ", \
                                  ::narthex::base::internal::CheckText(nx_b)));       \
  } while (false)

#define NX_CHECK_EQ(a, b) NX_CHECK_OP(a, ==, b)
#define NX_CHECK_NE(a, b) NX_CHECK_OP(a, !=, b)
#define NX_CHECK_LT(a, b) NX_CHECK_OP(a, <, b)
#define NX_CHECK_LE(a, b) NX_CHECK_OP(a, <=, b)
#define NX_CHECK_GT(a, b) NX_CHECK_OP(a, >, b)
#define NX_CHECK_GE(a, b) NX_CHECK_OP(a, >=, b)

#ifdef NX_DEBUG_CHECKS
#define NX_DCHECK(condition) NX_CHECK(condition)
#else
#define NX_DCHECK(condition) \
  do {                       \
  } while (false && (condition))
#endif
