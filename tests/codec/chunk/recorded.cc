#include "tests/codec/chunk/recorded.h"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <type_traits>

#include "narthex/base/check.h"

namespace narthex::codec {
namespace {

uint64_t FromHex(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}
double FloatOf(std::string_view text) { return std::bit_cast<double>(FromHex(text)); }

template <typename Each>
void ForEachItem(const std::string& list, Each each) {
  if (list == "-") return;
  std::istringstream items(list);
  for (std::string item; std::getline(items, item, ',');) each(item);
}

std::vector<model::BucketSpan> SpansOf(const std::string& list) {
  std::vector<model::BucketSpan> spans;
  ForEachItem(list, [&](const std::string& item) {
    const size_t colon = item.find(':');
    spans.push_back({std::stoi(item.substr(0, colon)),
                     static_cast<uint32_t>(std::stoul(item.substr(colon + 1)))});
  });
  return spans;
}

template <typename H>
void ParseHistogram(const std::vector<std::string>& fields, H* histogram) {
  using Bucket = typename decltype(H::buckets)::value_type;
  auto layout = std::make_shared<model::HistogramLayout>();
  histogram->hint = static_cast<model::CounterResetHint>(std::stoi(fields[2]));
  layout->schema = std::stoi(fields[3]);
  layout->zero_threshold = FloatOf(fields[4]);
  histogram->sum = FloatOf(fields[7]);
  layout->positive_spans = SpansOf(fields[8]);
  layout->negative_spans = SpansOf(fields[9]);
  ForEachItem(fields[11],
              [&](const std::string& item) { layout->custom_bounds.push_back(FloatOf(item)); });
  if constexpr (std::is_integral_v<Bucket>) {
    histogram->zero_count = std::stoull(fields[5]);
    histogram->count = std::stoull(fields[6]);
    ForEachItem(fields[10],
                [&](const std::string& item) { histogram->buckets.push_back(std::stoll(item)); });
  } else {
    histogram->zero_count = FloatOf(fields[5]);
    histogram->count = FloatOf(fields[6]);
    ForEachItem(fields[10],
                [&](const std::string& item) { histogram->buckets.push_back(FloatOf(item)); });
  }
  histogram->layout = std::move(layout);
}

}  // namespace

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    hex.push_back(kDigits[static_cast<uint8_t>(byte) >> 4]);
    hex.push_back(kDigits[static_cast<uint8_t>(byte) & 15]);
  }
  return hex;
}

std::string Unhex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(FromHex(hex.substr(i, 2))));
  }
  return bytes;
}

std::vector<RecordedCase> ReadRecordedCases() {
  const char* const other = std::getenv("NARTHEX_RECORDED_CHUNKS");
  std::ifstream file(other != nullptr ? other
                                      : NX_SOURCE_DIR "/tests/codec/chunk/recorded_chunks.txt");
  std::vector<RecordedCase> cases;
  int line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    std::istringstream words(line);
    std::vector<std::string> fields;
    for (std::string word; words >> word;) fields.push_back(word);
    NX_CHECK(!fields.empty());
    if (fields[0] == "=") {
      cases.back().chunks.push_back(Unhex(fields[1]));
    } else if (fields[0] == "s") {
      RecordedCase::HistogramSample sample;
      sample.time_ms = std::stoll(fields[1]);
      fields.resize(12, "-");
      if (cases.back().kind.starts_with("int")) {
        ParseHistogram(fields, &sample.integer);
      } else {
        ParseHistogram(fields, &sample.number);
      }
      cases.back().histograms.push_back(std::move(sample));
    } else {
      RecordedCase& one = cases.emplace_back();
      one.kind = fields[0];
      one.line = line_number;
      for (size_t i = 1; i < fields.size(); ++i) {
        const size_t colon = fields[i].find(':');
        one.floats.emplace_back(std::stoll(fields[i].substr(0, colon)),
                                FloatOf(std::string_view(fields[i]).substr(colon + 1)));
      }
    }
  }
  return cases;
}

}  // namespace narthex::codec
