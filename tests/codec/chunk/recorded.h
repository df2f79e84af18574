// Chunks that Prometheus 3.14 made of random samples (recorded_chunks.txt), with the samples.
// A case is a kind, its samples, and the chunks in hex:
//
//   xor|xor2 <time>:<value bits> ...
//   int|float|intst|floatst
//   s <time> <hint> <schema> <zero threshold> <zero count> <count> <sum> <positive spans>
//     <negative spans> <buckets> <custom bounds>       (one line; absolute counts; "-" for none)
//   = <chunk>
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "narthex/model/histogram.h"

namespace narthex::codec {

struct RecordedCase {
  struct HistogramSample {
    int64_t time_ms = 0;
    model::Histogram integer;      // Of int and intst.
    model::FloatHistogram number;  // Of float and floatst.
  };
  std::string kind;
  int line = 0;
  std::vector<std::pair<int64_t, double>> floats;
  std::vector<HistogramSample> histograms;
  std::vector<std::string> chunks;
};

// Of the file at NARTHEX_RECORDED_CHUNKS if that is set, else of the one beside the tests.
std::vector<RecordedCase> ReadRecordedCases();

std::string Hex(std::string_view bytes);
std::string Unhex(std::string_view hex);

}  // namespace narthex::codec
