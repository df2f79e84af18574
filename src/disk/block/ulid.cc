#include "narthex/disk/ulid.h"

#include <algorithm>

#include "narthex/base/check.h"

namespace narthex::disk {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr int kTimeBytes = 6;

}  // namespace

Ulid Ulid::Make(int64_t time_ms, const std::array<uint8_t, kNumRandomBytes>& random) {
  NX_CHECK_GE(time_ms, int64_t{0});
  NX_CHECK_LT(time_ms, int64_t{1} << 48);
  Ulid ulid;
  for (int i = 0; i < kTimeBytes; ++i) {
    ulid.bytes_[static_cast<size_t>(i)] = static_cast<uint8_t>(time_ms >> (40 - 8 * i));
  }
  std::copy(random.begin(), random.end(), ulid.bytes_.begin() + kTimeBytes);
  return ulid;
}

std::optional<Ulid> Ulid::Parse(std::string_view text) {
  if (text.size() != kTextSize || text[0] > '7') return std::nullopt;
  Ulid ulid;
  for (const char digit : text) {
    const char upper = digit >= 'a' && digit <= 'z' ? static_cast<char>(digit - 'a' + 'A') : digit;
    const size_t value = kDigits.find(upper);
    if (value == kDigits.npos) return std::nullopt;
    // The whole number moves up by five bits; the first digit has but three.
    unsigned carry = static_cast<unsigned>(value);
    for (size_t i = ulid.bytes_.size(); i-- > 0;) {
      const unsigned shifted = (unsigned{ulid.bytes_[i]} << 5) | carry;
      ulid.bytes_[i] = static_cast<uint8_t>(shifted);
      carry = shifted >> 8;
    }
  }
  return ulid;
}

std::string Ulid::ToString() const {
  std::string text(kTextSize, '0');
  std::array<uint8_t, 16> rest = bytes_;
  for (size_t digit = kTextSize; digit-- > 0;) {
    text[digit] = kDigits[rest[15] & 31];
    unsigned carry = 0;
    for (uint8_t& byte : rest) {
      const unsigned low = byte & 31u;
      byte = static_cast<uint8_t>((byte >> 5) | (carry << 3));
      carry = low;
    }
  }
  return text;
}

int64_t Ulid::time_ms() const {
  int64_t time_ms = 0;
  for (size_t i = 0; i < kTimeBytes; ++i) time_ms = (time_ms << 8) | bytes_[i];
  return time_ms;
}

}  // namespace narthex::disk
