// Good bodies of every format that together use every part of the grammar.
#pragma once

#include <string>
#include <vector>

#include "narthex/codec/exposition/reader.h"
#include "tests/codec/wire/wire_bytes.h"

namespace narthex::codec {

struct Seed {
  ExpositionFormat format;
  std::string body;
};

inline std::vector<Seed> ExpositionSeeds() {
  const std::string exemplar = Pair(1, "id", "x") + Double(2, 0.5) + Time(3, 9, 5'000'000);
  const std::string histogram =
      Varint(1, 12) + Double(2, 1.5) + Bytes(3, Varint(1, 3) + Double(2, 1) + Bytes(3, exemplar)) +
      Sint(5, 3) + Double(6, 0.001) + Varint(7, 2) + Span(9, -2, 1) + PackedSints(10, {4}) +
      Span(12, 0, 2) + Span(12, 0, 2) + PackedSints(13, {1, -1, 2, 1}) + Time(15, 3, 4) +
      Bytes(16, exemplar);
  const std::string float_histogram =
      Double(4, 2.5) + Sint(5, -1) + Span(12, 5, 2) + PackedDoubles(14, {0.5, 2}) + Double(8, 1);
  return {
      {ExpositionFormat::kText,
       "# HELP a_total \xc3\xa4 \\\\ \\n text\n# TYPE a_total counter\na_total{b=\"c\\\"\\n\","
       "d=\"e\",} 1.5e3 1395066363000\n# remark\n\n{\"m.n\",\"l m\"=\"\xc3\xa4\"} NaN\nx -Inf\n"},
      {ExpositionFormat::kOpenMetrics,
       "# TYPE a_s histogram\n# UNIT a_s s\n# HELP a_s \xc3\xa4 \\\"\na_s_bucket{b=\"\\\"\","
       "le=\"1\"} 1 5.5 # {i=\"j\",k=\"l\"} 0.5 6\na_s_created{b=\"\\\"\"} 4.25\n"
       "{\"m.n\",\"l m\"=\"x\"} 2 # {} 1\n# EOF\n"},
      {ExpositionFormat::kProtobuf,
       Family("c", 0,
              Bytes(4, Pair(1, "a", "1") + Varint(6, 1234) +
                           Bytes(3, Double(1, 7) + Bytes(2, exemplar) + Time(3, 1, 5))) +
                  Bytes(5, "u")) +
           Family("s", 2,
                  Bytes(4, Bytes(4, Varint(1, 3) + Double(2, 4.5) +
                                        Bytes(3, Double(1, 0.5) + Double(2, 1)))))},
      {ExpositionFormat::kProtobuf,
       Family("h", 4, Bytes(4, Pair(1, "a", "1") + Bytes(7, histogram))) +
           Family("g", 5, Bytes(4, Bytes(7, float_histogram)))},
  };
}

}  // namespace narthex::codec
