// Names of blocks: 48 bits of Unix milliseconds, then 80 random bits. Text is 26 digits of
// Crockford's base 32, so that names sort by time. Immutable value; thread-safe.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace narthex::disk {

class Ulid {
 public:
  static constexpr size_t kTextSize = 26;
  static constexpr size_t kNumRandomBytes = 10;

  Ulid() = default;  // All zeroes.
  // REQUIRES: 0 <= time_ms < 2^48.
  static Ulid Make(int64_t time_ms, const std::array<uint8_t, kNumRandomBytes>& random);
  // nullopt if `text` is not a ULID. Lower-case digits are read too.
  static std::optional<Ulid> Parse(std::string_view text);

  std::string ToString() const;
  int64_t time_ms() const;

  auto operator<=>(const Ulid&) const = default;

 private:
  std::array<uint8_t, 16> bytes_ = {};
};

}  // namespace narthex::disk
