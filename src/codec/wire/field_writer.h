// Appends protobuf fields to a string. Values equal to the default are written all the same; leave
// them out where the format wants that. Free functions, thread-safe.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "codec/wire/field_reader.h"

namespace narthex::codec {

inline void AppendVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

constexpr uint64_t EncodeZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

inline void AppendVarintField(std::string* out, uint32_t field_number, uint64_t value) {
  AppendVarint(out, Tag(field_number, WireType::kVarint));
  AppendVarint(out, value);
}

inline void AppendSintField(std::string* out, uint32_t field_number, int64_t value) {
  AppendVarintField(out, field_number, EncodeZigZag(value));
}

inline void AppendBytesField(std::string* out, uint32_t field_number, std::string_view bytes) {
  AppendVarint(out, Tag(field_number, WireType::kBytes));
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

inline void AppendDouble(std::string* out, double value) {
  const auto bytes = std::bit_cast<std::array<char, sizeof value>>(value);
  out->append(bytes.data(), bytes.size());
}

inline void AppendDoubleField(std::string* out, uint32_t field_number, double value) {
  AppendVarint(out, Tag(field_number, WireType::kFixed64));
  AppendDouble(out, value);
}

}  // namespace narthex::codec
