// The delimited protobuf format: a body is a row of families, each with its size before it.
//
//   uvarint size | MetricFamily{name, help, type, metric[], unit} | uvarint size | ...
//
// A family gives its metadata, then each metric one entry (counter, gauge, untyped), or a row of
// them: summaries and classic histograms give `_count`, `_sum` and one entry a quantile or bucket;
// a native histogram gives one entry, and the classic ones after it if both are wanted. A metric
// may be larger than a batch, so the reader remembers where in it the last batch ended. Whether a
// histogram is native is decided metric by metric.
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>

#include "codec/exposition/metric_message.h"
#include "codec/exposition/native_histogram.h"
#include "codec/exposition/readers.h"
#include "codec/exposition/sample_labels.h"
#include "codec/exposition/text_arena.h"
#include "codec/wire/field_reader.h"
#include "narthex/base/float_text.h"
#include "narthex/base/status.h"

namespace narthex::codec {
namespace {

constexpr char kSeparator = '\xff';  // Never part of valid UTF-8.
constexpr size_t kMaxSizeBytes = 5;  // Of the varint before a family.

model::MetricType ModelType(FamilyType type) {
  switch (type) {
    case FamilyType::kCounter:
      return model::MetricType::kCounter;
    case FamilyType::kGauge:
      return model::MetricType::kGauge;
    case FamilyType::kSummary:
      return model::MetricType::kSummary;
    case FamilyType::kHistogram:
      return model::MetricType::kHistogram;
    case FamilyType::kGaugeHistogram:
      return model::MetricType::kGaugeHistogram;
    case FamilyType::kUntyped:
      break;
  }
  return model::MetricType::kUnknown;
}

// The texts of bucket bounds and quantiles by their place, since the metrics of a family mostly
// have the same ones. Thread-compatible.
class NumberTexts {
 public:
  // Valid until the next call.
  std::string_view At(size_t place, double number) {
    Known& known = known_[place % kMaxKnown];
    const uint64_t bits = std::bit_cast<uint64_t>(number);
    if (known.text.empty() || known.bits != bits) {
      known.bits = bits;
      known.text.clear();
      base::AppendFloatOpenMetrics(&known.text, number);
    }
    return known.text;
  }

 private:
  static constexpr size_t kMaxKnown = 128;
  struct Known {
    uint64_t bits = 0;
    std::string text;
  };
  std::vector<Known> known_ = std::vector<Known>(kMaxKnown);
};

// Thread-compatible.
class ProtobufReader final : public ExpositionReader {
 public:
  ProtobufReader(std::string_view body, const ReaderOptions& options)
      : options_(options),
        position_(body.data()),
        end_(position_ + body.size()),
        metrics_(std::string_view()),
        labels_(LabelEscapes::kNone) {}

  bool NextBatch(EntryBatch* batch) override {
    batch->entries.clear();
    batch->exemplars.clear();
    batch_ = batch;
    labels_.Reset();
    arena_.Reset();
    histograms_.clear();
    float_histograms_.clear();
    num_histogram_bytes_ = 0;
    if (in_metric_) AddMetricLabels();
    while (!done_ && !IsFull()) {
      status_ = in_metric_ ? AddNextSample() : NextMetric();
      if (!status_.ok()) done_ = true;
    }
    // What came before an error is handed out first.
    return !batch->entries.empty();
  }

  absl::Status status() const override { return status_; }

  absl::Status Labels(const Entry& entry, model::LabelsBuilder* out) const override {
    return labels_.Build(entry.labels_index, options_.type_and_unit_labels, out);
  }

 private:
  // What of a metric comes next; a row of entries goes through these in order.
  enum class Step : uint8_t { kValue, kNative, kCount, kSum, kElements };

  bool IsFull() const {
    return batch_->entries.size() >= kMaxBatchEntries ||
           arena_.num_bytes() + num_histogram_bytes_ >= kMaxBatchBytes;
  }

  // Goes to the next metric, or the next family if there is none. Sets `done_` at the end.
  absl::Status NextMetric() {
    while (metrics_.Next()) {
      if (metrics_.tag() != Tag(4, WireType::kBytes)) continue;
      NX_RETURN_IF_ERROR(DecodeMetric(metrics_.bytes(), type_, &metric_));
      StartMetric();
      return absl::OkStatus();
    }
    NX_RETURN_IF_ERROR(metrics_.status());
    return NextFamily();
  }

  absl::Status NextFamily() {
    if (position_ == end_) {
      done_ = true;
      return absl::OkStatus();
    }
    const char* const start = position_;
    uint64_t size = 0;
    if (!ReadVarint(&position_, end_, &size) ||
        static_cast<size_t>(position_ - start) > kMaxSizeBytes) {
      return base::InvalidArgument("clientpb: invalid varint encountered");
    }
    const uint64_t num_left = static_cast<uint64_t>(end_ - position_);
    if (size > num_left) {
      const uint64_t num_prefix = static_cast<uint64_t>(position_ - start);
      return base::InvalidArgument("clientpb: insufficient length of buffer, expected at least ",
                                   size + num_prefix, " bytes, got ", num_left + num_prefix,
                                   " bytes");
    }
    const std::string_view bytes(position_, size);
    position_ += size;
    NX_RETURN_IF_ERROR(DecodeFamily(bytes, &family_));
    metrics_ = FieldReader(family_.has_metrics ? bytes : std::string_view());
    if (!family_.has_metrics) return absl::OkStatus();
    NX_RETURN_IF_ERROR(CheckFamily());
    AddMetadata();
    return absl::OkStatus();
  }

  absl::Status CheckFamily() {
    if (!model::IsValidMetricName(family_.name, model::NameValidation::kUtf8)) {
      return base::InvalidArgument("invalid metric name: ", family_.name);
    }
    std::string quoted_name;
    model::AppendQuoted(&quoted_name, family_.name);
    if (!model::IsValidUtf8(family_.help)) {
      return base::InvalidArgument("invalid help for metric ", quoted_name, ": ", family_.help);
    }
    if (family_.type < static_cast<int32_t>(FamilyType::kCounter) ||
        family_.type > static_cast<int32_t>(FamilyType::kGaugeHistogram)) {
      return base::InvalidArgument("unknown metric type for metric ", quoted_name, ": ",
                                   family_.type);
    }
    type_ = static_cast<FamilyType>(family_.type);
    return absl::OkStatus();
  }

  void AddMetadata() {
    Entry entry;
    entry.name = family_.name;
    entry.kind = EntryKind::kHelp;
    entry.text = family_.help;
    batch_->entries.push_back(entry);
    if (!family_.unit.empty()) {
      entry.kind = EntryKind::kUnit;
      entry.text = family_.unit;
      batch_->entries.push_back(entry);
    }
    entry.kind = EntryKind::kType;
    entry.text = {};
    entry.type = ModelType(type_);
    batch_->entries.push_back(entry);
  }

  bool is_histogram() const {
    return type_ == FamilyType::kHistogram || type_ == FamilyType::kGaugeHistogram;
  }

  void StartMetric() {
    in_metric_ = true;
    element_ = 0;
    if (is_histogram()) {
      const bool is_native = options_.native_histograms && metric_.histogram.is_native();
      step_ = is_native ? Step::kNative : Step::kCount;
    } else {
      step_ = type_ == FamilyType::kSummary ? Step::kCount : Step::kValue;
    }
    labels_key_.clear();
    for (const model::Label& label : metric_.labels) {
      labels_key_.push_back(kSeparator);
      labels_key_.append(label.name).push_back(kSeparator);
      labels_key_.append(label.value);
    }
    AddMetricLabels();
  }

  void AddMetricLabels() {
    for (const model::Label& label : metric_.labels) labels_.Add(label.name, label.value);
    label_range_ = labels_.CloseRange();
  }

  // Adds one entry and goes a step on.
  absl::Status AddNextSample() {
    switch (step_) {
      case Step::kValue:
        in_metric_ = false;
        AddFloat("", {}, metric_.value);
        return AddExemplar(metric_.exemplar);
      case Step::kNative:
        return AddNative();
      case Step::kCount:
        step_ = Step::kSum;
        AddFloat("_count", {},
                 is_histogram() ? metric_.histogram.observations()
                                : static_cast<double>(metric_.summary_count));
        return absl::OkStatus();
      case Step::kSum:
        step_ = Step::kElements;
        in_metric_ = is_histogram() || !metric_.quantiles.empty();
        AddFloat("_sum", {}, is_histogram() ? metric_.histogram.sum : metric_.summary_sum);
        return absl::OkStatus();
      case Step::kElements:
        return is_histogram() ? AddBucket() : AddQuantile();
    }
    return absl::OkStatus();
  }

  absl::Status AddQuantile() {
    const QuantileMessage& quantile = metric_.quantiles[element_];
    AddFloat("", {model::kQuantileLabel, number_texts_.At(element_, quantile.quantile)},
             quantile.value);
    in_metric_ = ++element_ < metric_.quantiles.size();
    return absl::OkStatus();
  }

  // The bucket +Inf is the last one; where it is missing it is made from the count.
  absl::Status AddBucket() {
    const HistogramMessage& histogram = metric_.histogram;
    if (element_ >= histogram.buckets.size()) {
      in_metric_ = false;
      AddFloat("_bucket", {model::kBucketLabel, "+Inf"}, histogram.observations());
      return absl::OkStatus();
    }
    const BucketMessage& bucket = histogram.buckets[element_];
    AddFloat("_bucket", {model::kBucketLabel, number_texts_.At(element_, bucket.upper_bound)},
             bucket.cumulative());
    ++element_;
    in_metric_ = bucket.upper_bound != std::numeric_limits<double>::infinity();
    return AddExemplar(bucket.exemplar);
  }

  absl::Status AddNative() {
    const HistogramMessage& message = metric_.histogram;
    const bool add_classic = options_.classic_with_native && !message.buckets.empty();
    step_ = Step::kCount;
    in_metric_ = add_classic;
    const model::CounterResetHint hint = type_ == FamilyType::kGaugeHistogram
                                             ? model::CounterResetHint::kGauge
                                             : model::CounterResetHint::kUnknown;
    absl::Status status;
    Entry entry;
    if (message.is_float()) {
      entry.kind = EntryKind::kFloatHistogram;
      entry.float_histogram = &float_histograms_.emplace_back();
      status = MakeHistogram(message, hint, &float_histograms_.back());
    } else {
      entry.kind = EntryKind::kHistogram;
      entry.histogram = &histograms_.emplace_back();
      status = MakeHistogram(message, hint, &histograms_.back());
    }
    if (!status.ok()) {
      std::string context = "histogram ";
      model::AppendQuoted(&context, family_.name);
      return base::WithContext(status, context);
    }
    num_histogram_bytes_ += metrics_.bytes().size();
    AddSample("", {}, &entry);
    return AddNativeExemplars();
  }

  // Exemplars of a native histogram need a time: those of its own list or else of the buckets.
  absl::Status AddNativeExemplars() {
    const HistogramMessage& message = metric_.histogram;
    for (const std::string_view exemplar : message.exemplars) {
      NX_RETURN_IF_ERROR(AddTimedExemplar(exemplar));
    }
    if (!message.exemplars.empty()) return absl::OkStatus();
    for (const BucketMessage& bucket : message.buckets) {
      NX_RETURN_IF_ERROR(AddTimedExemplar(bucket.exemplar));
    }
    return absl::OkStatus();
  }

  absl::Status AddTimedExemplar(std::string_view bytes) {
    if (bytes.data() == nullptr) return absl::OkStatus();
    NX_RETURN_IF_ERROR(DecodeExemplar(bytes, &exemplar_));
    if (exemplar_.time.is_set) PushExemplar();
    return absl::OkStatus();
  }

  // Gives the last entry an exemplar, if there is one.
  absl::Status AddExemplar(std::string_view bytes) {
    if (bytes.data() == nullptr) return absl::OkStatus();
    NX_RETURN_IF_ERROR(DecodeExemplar(bytes, &exemplar_));
    PushExemplar();
    return absl::OkStatus();
  }

  void PushExemplar() {
    batch_->exemplars.push_back({model::Labels::FromPairs(exemplar_.labels), exemplar_.value,
                                 exemplar_.time.is_set, exemplar_.time.ms()});
    ++batch_->entries.back().num_exemplars;
  }

  void AddFloat(std::string_view suffix, model::Label extra, double value) {
    Entry entry;
    entry.value = value;
    AddSample(suffix, extra, &entry);
  }

  // Adds `*entry` as a sample of the metric. `extra` may live shortly.
  void AddSample(std::string_view suffix, model::Label extra, Entry* entry) {
    const size_t num_name = family_.name.size() + suffix.size();
    const size_t num_extra = extra.name.empty() ? 0 : extra.name.size() + extra.value.size() + 2;
    const size_t num_key = num_name + num_extra + labels_key_.size();
    char* const key = arena_.Allocate(num_key);
    char* out = key;
    const auto append = [&out](std::string_view text) {
      if (!text.empty()) std::memcpy(out, text.data(), text.size());
      out += text.size();
    };
    append(family_.name);
    append(suffix);
    if (num_extra > 0) {
      *out++ = kSeparator;
      append(extra.name);
      *out++ = kSeparator;
      const char* const kept_value = out;
      append(extra.value);
      extra.value = {kept_value, extra.value.size()};
    }
    append(labels_key_);
    entry->name = {key, num_name};
    entry->series_key = {key, num_key};
    entry->has_time = metric_.time_ms != 0;
    entry->time_ms = metric_.time_ms;
    entry->start_time_ms = metric_.start_time.is_set ? metric_.start_time.ms() : 0;
    entry->first_exemplar = static_cast<uint32_t>(batch_->exemplars.size());
    entry->labels_index =
        labels_.AddSample({label_range_, entry->name, ModelType(type_), family_.unit, extra});
    batch_->entries.push_back(*entry);
  }

  const ReaderOptions options_;
  const char* position_;  // Of the next family.
  const char* end_;
  FamilyMessage family_;
  FamilyType type_ = FamilyType::kUntyped;
  FieldReader metrics_;  // Over the family; the metrics are what is left of it.
  // The metric whose entries are being added, and where in it the next one is.
  bool in_metric_ = false;
  MetricMessage metric_;
  Step step_ = Step::kValue;
  size_t element_ = 0;      // Bucket or quantile.
  std::string labels_key_;  // The metric's labels as part of series keys.
  SampleLabels::Range label_range_;
  NumberTexts number_texts_;
  ExemplarMessage exemplar_;
  // What entries of the batch point to.
  EntryBatch* batch_ = nullptr;
  SampleLabels labels_;
  TextArena arena_;
  std::deque<model::Histogram> histograms_;
  std::deque<model::FloatHistogram> float_histograms_;
  size_t num_histogram_bytes_ = 0;  // As they were encoded.
  bool done_ = false;
  absl::Status status_;
};

}  // namespace

std::unique_ptr<ExpositionReader> NewProtobufReader(std::string_view body,
                                                    const ReaderOptions& options) {
  return std::make_unique<ProtobufReader>(body, options);
}

}  // namespace narthex::codec
