// Staleness: a special NaN says that a series ended. NaNs are compared by bits.
#pragma once

#include <bit>
#include <cstdint>

namespace narthex::model {

inline constexpr uint64_t kStaleNanBits = 0x7ff0000000000002;
inline constexpr uint64_t kNormalNanBits = 0x7ff8000000000001;

inline double StaleNan() { return std::bit_cast<double>(kStaleNanBits); }
inline double NormalNan() { return std::bit_cast<double>(kNormalNanBits); }
inline bool IsStaleNan(double value) { return std::bit_cast<uint64_t>(value) == kStaleNanBits; }

}  // namespace narthex::model
