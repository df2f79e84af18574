// Reads the fields of one protobuf message in place. Malformed bytes are everyday input, so they
// end the loop instead of throwing, and no length in the bytes is trusted for an allocation:
//
//   FieldReader fields(bytes);
//   while (fields.Next()) {
//     switch (fields.tag()) {
//       case Tag(1, WireType::kBytes): name = fields.bytes(); break;
//     }
//   }
//   NX_RETURN_IF_ERROR(fields.status());
//
// Thread-compatible. All views are into the message.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace narthex::codec {

// On the wire: never renumber.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr uint32_t Tag(uint32_t field_number, WireType type) {
  return (field_number << 3) | static_cast<uint32_t>(type);
}

constexpr int64_t ZigZag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

class FieldReader {
 public:
  explicit FieldReader(std::string_view message)
      : position_(message.data()), end_(position_ + message.size()) {}

  // Moves to the next field. False at the end, and on malformed bytes: see status(). Groups count
  // as malformed.
  bool Next();

  // Number and wire type of the field, as Tag() makes them. A known number with another wire type
  // is to be refused by Refuse().
  uint32_t tag() const { return tag_; }
  uint32_t number() const { return tag_ >> 3; }

  // The field's value. REQUIRES: the wire type fits.
  uint64_t varint() const { return value_; }
  int64_t int64() const { return static_cast<int64_t>(value_); }
  int32_t int32() const { return static_cast<int32_t>(static_cast<uint32_t>(value_)); }
  int64_t sint64() const { return ZigZag(value_); }
  int32_t sint32() const { return static_cast<int32_t>(ZigZag(value_ & 0xffffffff)); }
  double float64() const { return std::bit_cast<double>(value_); }
  std::string_view bytes() const { return bytes_; }
  // The place after the field.
  const char* position() const { return position_; }

  // kInvalidArgument once Next() returned false on malformed bytes.
  absl::Status status() const;

 private:
  bool Fail();

  const char* position_;
  const char* end_;
  uint32_t tag_ = 0;
  uint64_t value_ = 0;
  std::string_view bytes_;
  bool failed_ = false;
};

// Reads a varint at `*position`, which moves past it. False if it is cut off or longer than 64
// bits.
bool ReadVarint(const char** position, const char* end, uint64_t* value);

// The error for a known field that came with another wire type.
absl::Status WrongWireType(std::string_view message, const FieldReader& fields);

// Calls `add(uint64_t)` for each varint of a packed field; false if it is malformed.
template <typename Add>
bool ForEachPackedVarint(std::string_view packed, Add add) {
  const char* position = packed.data();
  const char* const end = position + packed.size();
  while (position < end) {
    uint64_t value;
    if (!ReadVarint(&position, end, &value)) return false;
    add(value);
  }
  return true;
}

// Calls `add(double)` for each double of a packed field; false if it is malformed.
template <typename Add>
bool ForEachPackedDouble(std::string_view packed, Add add) {
  if (packed.size() % sizeof(double) != 0) return false;
  for (size_t i = 0; i < packed.size(); i += sizeof(double)) {
    double value;
    __builtin_memcpy(&value, packed.data() + i, sizeof value);
    add(value);
  }
  return true;
}

static_assert(std::endian::native == std::endian::little, "doubles are read as they lie");

}  // namespace narthex::codec
