// A reader around a reader: classic histograms become native ones with custom buckets.
//
// The series of a classic histogram come one after another: `_bucket`, `_sum` and `_count` of one
// family and, but for `le`, one label set. They are collected until something else comes; then the
// native histogram is put before that. An exponential histogram that the inner reader gives wins
// over the classic series of the same labels behind it. Batches follow the inner reader's, so that
// entries that pass through keep their views; what is collected is copied.
#include <cmath>
#include <deque>
#include <optional>

#include "codec/exposition/classic_histogram.h"
#include "codec/exposition/readers.h"
#include "codec/exposition/text_value.h"
#include "narthex/base/float_text.h"

namespace narthex::codec {
namespace {

constexpr std::string_view kBucketSuffix = "_bucket";
constexpr std::string_view kSumSuffix = "_sum";
constexpr std::string_view kCountSuffix = "_count";

// Labels of converted histograms have indexes from here on; those of the inner reader are below.
constexpr uint32_t kFirstOwnIndex = 1u << 31;

enum class Part : uint8_t { kNone, kBucket, kSum, kCount };

// Takes the suffix off `*name`.
Part TakeSuffix(std::string_view* name) {
  constexpr std::pair<std::string_view, Part> kSuffixes[] = {
      {kBucketSuffix, Part::kBucket}, {kSumSuffix, Part::kSum}, {kCountSuffix, Part::kCount}};
  for (const auto& [suffix, part] : kSuffixes) {
    if (!name->ends_with(suffix)) continue;
    name->remove_suffix(suffix.size());
    return part;
  }
  return Part::kNone;
}

// Thread-compatible.
class CustomBucketReader final : public ExpositionReader {
 public:
  CustomBucketReader(std::unique_ptr<ExpositionReader> inner, bool keep_classic)
      : inner_(std::move(inner)), keep_classic_(keep_classic) {}

  bool NextBatch(EntryBatch* batch) override {
    batch->entries.clear();
    converted_.clear();
    while (batch->entries.empty() && !inner_ended_) {
      inner_ended_ = !inner_->NextBatch(&inner_batch_);
      batch->exemplars = std::move(inner_batch_.exemplars);
      if (inner_ended_) {
        batch->exemplars.clear();
        if (inner_->status().ok()) Finish(batch);
        break;
      }
      for (const Entry& entry : inner_batch_.entries) AddEntry(entry, batch);
    }
    return !batch->entries.empty();
  }

  absl::Status status() const override { return inner_->status(); }

  absl::Status Labels(const Entry& entry, model::LabelsBuilder* out) const override {
    if (entry.labels_index < kFirstOwnIndex) return inner_->Labels(entry, out);
    out->Reset(converted_[entry.labels_index - kFirstOwnIndex].labels);
    return absl::OkStatus();
  }

 private:
  enum class State : uint8_t { kStart, kCollecting, kInhibited };

  // What the entry of a converted histogram points to.
  struct Converted {
    model::Labels labels;
    std::string key;
    model::Histogram histogram;
    model::FloatHistogram float_histogram;
  };

  void AddEntry(const Entry& entry, EntryBatch* batch) {
    switch (entry.kind) {
      case EntryKind::kFloat:
        if (AddFloat(entry, batch) && !keep_classic_) return;
        break;
      case EntryKind::kHistogram:
      case EntryKind::kFloatHistogram:
        Finish(batch);
        state_ = State::kInhibited;
        if (inner_->Labels(entry, &builder_).ok()) base_labels_ = builder_.Build();
        break;
      case EntryKind::kType:
        Finish(batch);
        family_ = entry.name;
        type_ = entry.type;
        break;
      case EntryKind::kHelp:
      case EntryKind::kUnit:
        Finish(batch);
        break;
    }
    batch->entries.push_back(entry);
  }

  // True if the sample is part of a classic histogram that is being converted.
  bool AddFloat(const Entry& entry, EntryBatch* batch) {
    const bool is_histogram =
        type_ == model::MetricType::kHistogram || type_ == model::MetricType::kGaugeHistogram;
    std::string_view base_name = entry.name;
    const Part part = TakeSuffix(&base_name);
    if (!is_histogram || !inner_->Labels(entry, &builder_).ok()) {
      Finish(batch);
      state_ = State::kStart;
      return false;
    }
    const std::string upper_bound(builder_.Get(model::kBucketLabel));
    builder_.Delete(model::kBucketLabel).Set(model::kMetricName, base_name);
    model::Labels labels = builder_.Build();
    if (state_ != State::kStart && labels != base_labels_) {
      Finish(batch);
      state_ = State::kStart;
    }
    if (state_ == State::kInhibited || base_name != family_) return false;
    std::optional<double> bound;
    if (part == Part::kBucket) {
      bound = base::ParseFloat(upper_bound);
      if (!bound.has_value() || std::isnan(*bound) || IsOutOfRange(upper_bound, *bound)) {
        return false;
      }
    }
    if (part == Part::kNone) return false;
    Collect(entry, std::move(labels), *batch);
    if (part == Part::kBucket) classic_.SetBucket(*bound, entry.value);
    if (part == Part::kSum) classic_.SetSum(entry.value);
    if (part == Part::kCount) classic_.SetCount(entry.value);
    return true;
  }

  void Collect(const Entry& entry, model::Labels labels, const EntryBatch& batch) {
    if (state_ != State::kCollecting) {
      state_ = State::kCollecting;
      base_labels_ = std::move(labels);
      start_time_ms_ = entry.start_time_ms;
      classic_.Reset();
      exemplars_.clear();
    }
    has_time_ = entry.has_time;
    time_ms_ = entry.time_ms;
    for (uint32_t i = 0; i < entry.num_exemplars; ++i) {
      exemplars_.push_back(batch.exemplars[entry.first_exemplar + i]);
    }
  }

  // Ends collecting and adds the histogram if it is a good one.
  void Finish(EntryBatch* batch) {
    if (state_ != State::kCollecting) return;
    state_ = State::kStart;
    Converted& converted = converted_.emplace_back();
    const model::CounterResetHint hint = type_ == model::MetricType::kGaugeHistogram
                                             ? model::CounterResetHint::kGauge
                                             : model::CounterResetHint::kUnknown;
    const ClassicHistogram::Result result =
        classic_.Convert(hint, &converted.histogram, &converted.float_histogram);
    if (result == ClassicHistogram::Result::kInvalid) {
      converted_.pop_back();
      return;
    }
    Entry entry;
    if (result == ClassicHistogram::Result::kInteger) {
      entry.kind = EntryKind::kHistogram;
      entry.histogram = &converted.histogram;
    } else {
      entry.kind = EntryKind::kFloatHistogram;
      entry.float_histogram = &converted.float_histogram;
    }
    converted.labels = base_labels_;
    // A separator that no name or value has keeps these keys apart from those of the body.
    for (const model::Label& label : base_labels_.Views()) {
      converted.key.append(label.name).append("\xff").append(label.value).append("\xff");
    }
    entry.name = converted.labels.Get(model::kMetricName);
    entry.series_key = converted.key;
    entry.has_time = has_time_;
    entry.time_ms = time_ms_;
    entry.start_time_ms = start_time_ms_;
    entry.labels_index = kFirstOwnIndex + static_cast<uint32_t>(converted_.size() - 1);
    entry.first_exemplar = static_cast<uint32_t>(batch->exemplars.size());
    entry.num_exemplars = static_cast<uint32_t>(exemplars_.size());
    for (model::Exemplar& exemplar : exemplars_) batch->exemplars.push_back(std::move(exemplar));
    batch->entries.push_back(entry);
  }

  const std::unique_ptr<ExpositionReader> inner_;
  const bool keep_classic_;
  EntryBatch inner_batch_;
  bool inner_ended_ = false;
  model::LabelsBuilder builder_;
  std::deque<Converted> converted_;  // Of the batch; stable addresses.
  // Of the last TYPE.
  std::string family_;
  model::MetricType type_ = model::MetricType::kUnknown;

  State state_ = State::kStart;
  // kCollecting: the histogram's labels; kInhibited: those of the exponential histogram.
  model::Labels base_labels_;
  ClassicHistogram classic_;
  std::vector<model::Exemplar> exemplars_;
  bool has_time_ = false;
  int64_t time_ms_ = 0;  // Of the last series collected.
  int64_t start_time_ms_ = 0;
};

}  // namespace

std::unique_ptr<ExpositionReader> NewCustomBucketReader(std::unique_ptr<ExpositionReader> inner,
                                                        bool keep_classic) {
  return std::make_unique<CustomBucketReader>(std::move(inner), keep_classic);
}

}  // namespace narthex::codec
