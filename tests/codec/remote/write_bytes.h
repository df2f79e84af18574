// Encodes remote write messages of version 1 for tests.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "tests/codec/wire/wire_bytes.h"

namespace narthex::codec {

using LabelList = std::initializer_list<std::pair<std::string_view, std::string_view>>;

inline std::string LabelsOf(LabelList labels) {
  std::string out;
  for (const auto& [name, value] : labels) out += Pair(1, name, value);
  return out;
}
inline std::string SampleOf(double value, int64_t time_ms) {
  return Bytes(2, Double(1, value) + Varint(2, static_cast<uint64_t>(time_ms)));
}
inline std::string ExemplarOf(LabelList labels, double value, int64_t time_ms) {
  return Bytes(3, LabelsOf(labels) + Double(2, value) + Varint(3, static_cast<uint64_t>(time_ms)));
}
// An integer histogram: schema 0, two buckets from index 1 on with 1 and 2 observations.
inline std::string HistogramOf(int64_t time_ms, std::string_view more = "") {
  return Bytes(4, Varint(1, 3) + Double(3, 1.5) + Sint(4, 0) + Double(5, 0.001) + Varint(6, 0) +
                      Span(11, 1, 2) + PackedSints(12, {1, 1}) +
                      Varint(15, static_cast<uint64_t>(time_ms)) + std::string(more));
}
inline std::string SeriesOf(LabelList labels, std::string_view rest) {
  return Bytes(1, LabelsOf(labels) + std::string(rest));
}

}  // namespace narthex::codec
