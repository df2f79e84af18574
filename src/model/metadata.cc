#include "narthex/model/metadata.h"

namespace narthex::model {

std::string_view MetricTypeName(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      return "histogram";
    case MetricType::kGaugeHistogram:
      return "gaugehistogram";
    case MetricType::kSummary:
      return "summary";
    case MetricType::kInfo:
      return "info";
    case MetricType::kStateset:
      return "stateset";
    case MetricType::kUnknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace narthex::model
