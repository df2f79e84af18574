// The labels of a batch's samples as views, kept so that only the labels of new series are ever
// built. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "narthex/model/labels.h"
#include "narthex/model/metadata.h"

namespace narthex::codec {

// Whether names and values may hold the text formats' escapes.
enum class LabelEscapes : uint8_t { kNone, kText };

class SampleLabels {
 public:
  // Labels of the store that one sample has, or all samples of one metric.
  struct Range {
    uint32_t first = 0;
    uint32_t size = 0;
  };
  struct Sample {
    Range labels;
    std::string_view name;  // Escapes as in the labels.
    // Of the family around the sample: decides whether `le` or `quantile` is a number.
    model::MetricType type = model::MetricType::kUnknown;
    std::string_view unit;
    model::Label extra = {};  // One more label; none if its name is empty.
  };

  explicit SampleLabels(LabelEscapes escapes) : escapes_(escapes) {}

  // Adds a label to the range that CloseRange() will end.
  void Add(std::string_view name, std::string_view value) { labels_.push_back({name, value}); }
  // The labels added since the last CloseRange().
  Range CloseRange();
  // Returns the sample's index.
  uint32_t AddSample(const Sample& sample);
  void Reset();

  // Sets `*out` to the labels of sample `index`, with `__type__` and `__unit__` if
  // `add_type_and_unit`. In text, escapes are resolved and `le` and `quantile` become OpenMetrics
  // numbers. kInvalidArgument: a name comes twice.
  absl::Status Build(uint32_t index, bool add_type_and_unit, model::LabelsBuilder* out) const;

 private:
  const LabelEscapes escapes_;
  std::vector<Sample> samples_;
  std::vector<model::Label> labels_;
  size_t first_open_ = 0;
};

}  // namespace narthex::codec
