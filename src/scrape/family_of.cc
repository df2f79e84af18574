#include "scrape/family_of.h"

#include <initializer_list>

namespace narthex::scrape {
namespace {

// Without the first of `suffixes` that it ends with.
std::string_view WithoutSuffix(std::string_view text,
                               std::initializer_list<std::string_view> suffixes) {
  for (const std::string_view suffix : suffixes) {
    if (text.ends_with(suffix)) return text.substr(0, text.size() - suffix.size());
  }
  return text;
}

}  // namespace

bool IsOfFamily(std::string_view metric, std::string_view family, model::MetricType type) {
  switch (type) {
    case model::MetricType::kCounter:
      return WithoutSuffix(metric, {"_total"}) == WithoutSuffix(family, {"_total"});
    case model::MetricType::kInfo:
      return WithoutSuffix(metric, {"_info"}) == WithoutSuffix(family, {"_info"});
    case model::MetricType::kHistogram:
      return WithoutSuffix(metric, {"_bucket", "_sum", "_count"}) == family;
    case model::MetricType::kGaugeHistogram:
      return WithoutSuffix(metric, {"_bucket", "_gsum", "_gcount"}) == family;
    case model::MetricType::kSummary:
      return WithoutSuffix(metric, {"_sum", "_count"}) == family;
    default:
      return metric == family;
  }
}

}  // namespace narthex::scrape
