// What is known about a metric besides its samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace narthex::model {

// On disk and on the wire: never renumber.
enum class MetricType : uint8_t {
  kUnknown = 0,
  kCounter = 1,
  kGauge = 2,
  kHistogram = 3,
  kGaugeHistogram = 4,
  kSummary = 5,
  kInfo = 6,
  kStateset = 7,
};

// "unknown", "counter", ... as the API prints them.
std::string_view MetricTypeName(MetricType type);

struct Metadata {
  MetricType type = MetricType::kUnknown;
  std::string unit;
  std::string help;
  bool operator==(const Metadata&) const = default;
};

}  // namespace narthex::model
