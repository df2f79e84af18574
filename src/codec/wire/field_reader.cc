#include "codec/wire/field_reader.h"

#include <cstring>
#include <limits>

#include "narthex/base/status.h"

namespace narthex::codec {

bool ReadVarint(const char** position, const char* end, uint64_t* value) {
  const char* next = *position;
  uint64_t result = 0;
  for (int shift = 0; shift < 64 && next < end; shift += 7) {
    const uint64_t byte = static_cast<uint8_t>(*next++);
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *position = next;
      *value = result;
      return true;
    }
  }
  return false;
}

bool FieldReader::Next() {
  if (position_ >= end_) return false;
  uint64_t tag = static_cast<uint8_t>(*position_);
  if (tag < 0x80) {
    ++position_;  // Fast path: field numbers below 16.
  } else if (!ReadVarint(&position_, end_, &tag) || tag > std::numeric_limits<uint32_t>::max()) {
    return Fail();
  }
  tag_ = static_cast<uint32_t>(tag);
  if (number() == 0) return Fail();
  const size_t num_left = static_cast<size_t>(end_ - position_);
  switch (tag_ & 7) {
    case static_cast<uint32_t>(WireType::kVarint):
      return ReadVarint(&position_, end_, &value_) || Fail();
    case static_cast<uint32_t>(WireType::kFixed64):
      if (num_left < sizeof value_) return Fail();
      std::memcpy(&value_, position_, sizeof value_);
      position_ += sizeof value_;
      return true;
    case static_cast<uint32_t>(WireType::kFixed32): {
      uint32_t value;
      if (num_left < sizeof value) return Fail();
      std::memcpy(&value, position_, sizeof value);
      value_ = value;
      position_ += sizeof value;
      return true;
    }
    case static_cast<uint32_t>(WireType::kBytes): {
      uint64_t size;
      if (!ReadVarint(&position_, end_, &size)) return Fail();
      if (size > static_cast<size_t>(end_ - position_)) return Fail();
      bytes_ = {position_, static_cast<size_t>(size)};
      position_ += size;
      return true;
    }
    default:
      return Fail();
  }
}

absl::Status FieldReader::status() const {
  return failed_ ? base::InvalidArgument("proto: unexpected end or illegal tag in message")
                 : absl::OkStatus();
}

bool FieldReader::Fail() {
  failed_ = true;
  position_ = end_;
  return false;
}

absl::Status WrongWireType(std::string_view message, const FieldReader& fields) {
  return base::InvalidArgument("proto: wrong wireType = ", fields.tag() & 7, " for field ",
                               fields.number(), " of ", message);
}

}  // namespace narthex::codec
