// Encodes protobuf messages for tests, field by field.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "codec/wire/field_writer.h"

namespace narthex::codec {

inline std::string Varint(uint32_t field, uint64_t value) {
  std::string out;
  AppendVarintField(&out, field, value);
  return out;
}
inline std::string Sint(uint32_t field, int64_t value) {
  std::string out;
  AppendSintField(&out, field, value);
  return out;
}
inline std::string Double(uint32_t field, double value) {
  std::string out;
  AppendDoubleField(&out, field, value);
  return out;
}
inline std::string Bytes(uint32_t field, std::string_view bytes) {
  std::string out;
  AppendBytesField(&out, field, bytes);
  return out;
}
inline std::string PackedSints(uint32_t field, std::initializer_list<int64_t> values) {
  std::string packed;
  for (const int64_t value : values) AppendVarint(&packed, EncodeZigZag(value));
  return Bytes(field, packed);
}
inline std::string PackedDoubles(uint32_t field, std::initializer_list<double> values) {
  std::string packed;
  for (const double value : values) AppendDouble(&packed, value);
  return Bytes(field, packed);
}
inline std::string Pair(uint32_t field, std::string_view name, std::string_view value) {
  return Bytes(field, Bytes(1, name) + Bytes(2, value));
}
inline std::string Span(uint32_t field, int32_t offset, uint32_t length) {
  return Bytes(field, Sint(1, offset) + Varint(2, length));
}
inline std::string Time(uint32_t field, int64_t seconds, int32_t nanos) {
  return Bytes(field, Varint(1, static_cast<uint64_t>(seconds)) +
                          Varint(2, static_cast<uint64_t>(static_cast<int64_t>(nanos))));
}
// A family with its size before it.
inline std::string Delimited(std::string_view family) {
  std::string out;
  AppendVarint(&out, family.size());
  out += family;
  return out;
}
inline std::string Family(std::string_view name, int type, std::string_view metrics) {
  return Delimited(Bytes(1, name) + Bytes(2, "Help.") + Varint(3, static_cast<uint64_t>(type)) +
                   std::string(metrics));
}

}  // namespace narthex::codec
