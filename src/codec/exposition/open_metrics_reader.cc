// OpenMetrics text 1.0 and 0.0.1.
//
//   # TYPE requests counter
//   requests_total{code="200"} 17 1520879607.789 # {trace_id="KOO5S4vxi0o"} 0.67
//   requests_created{code="200"} 1520430000.123
//   # EOF
//
// A start time stands in a `_created` line of its own, after the samples it is meant for. So when
// start times are wanted, a second parser runs ahead of the first to the next such line, remembers
// its labels, and every sample up to there compares its own with them. Both parsers see each line
// once.
#include "codec/exposition/open_metrics_parser.h"
#include "codec/exposition/readers.h"
#include "codec/exposition/sample_labels.h"
#include "codec/exposition/text_arena.h"
#include "codec/exposition/text_value.h"

namespace narthex::codec {
namespace {

constexpr std::string_view kCreatedSuffix = "_created";

bool HasStartTime(model::MetricType type) {
  return type == model::MetricType::kCounter || type == model::MetricType::kSummary ||
         type == model::MetricType::kHistogram;
}

// What a `_created` line and the samples it is meant for have in common: the labels without `le`
// and `quantile`, and the family's name.
void MakeSeriesKey(const std::vector<model::Label>& labels, model::MetricType type,
                   std::string_view family, std::string* key) {
  key->clear();
  for (const model::Label& label : labels) {
    if (type == model::MetricType::kSummary && label.name == model::kQuantileLabel) continue;
    if (type == model::MetricType::kHistogram && label.name == model::kBucketLabel) continue;
    key->append(label.name).append(label.value);
  }
  key->append(family);
}

// Finds the start times of samples. Thread-compatible.
class StartTimes {
 public:
  // The start time of the sample `parser` has just read, 0 if there is none.
  int64_t Find(const OpenMetricsParser& parser) {
    if (!HasStartTime(parser.type())) {
      has_last_ = false;
      return 0;
    }
    MakeSeriesKey(parser.line().labels, parser.type(), FamilyOf(parser), &key_);
    if (has_last_ && key_ == last_key_ && last_start_ms_ > 0) return last_start_ms_;
    if (ahead_until_ == nullptr || parser.position() > ahead_until_) LookAhead(parser);
    has_last_ = ahead_found_ && key_ == ahead_key_;
    if (!has_last_) return 0;
    last_key_ = key_;
    last_start_ms_ = ahead_start_ms_;
    return last_start_ms_;
  }

 private:
  // The sample's name as far as it is the family's.
  static std::string_view FamilyOf(const OpenMetricsParser& parser) {
    const OpenMetricsLine& line = parser.line();
    const size_t num_brackets = line.series.starts_with("{\"") ? 2 : 0;
    const char* const begin = line.name.data();
    const size_t num_left = static_cast<size_t>(parser.end() - line.series.data());
    const char* const end =
        line.series.data() + std::min(parser.family_name_size() + num_brackets, num_left);
    return begin < end ? std::string_view(begin, static_cast<size_t>(end - begin)) : "";
  }

  // Runs to the next `_created` line that follows `parser`'s place without metadata in between.
  void LookAhead(const OpenMetricsParser& parser) {
    OpenMetricsParser ahead = parser;
    ahead_found_ = false;
    while (ahead.Next(Exemplars::kSkip) == OpenMetricsParser::Result::kLine &&
           ahead.line().kind == EntryKind::kFloat) {
      const std::string_view name = ahead.line().name;
      if (!name.ends_with(kCreatedSuffix)) continue;
      ahead_found_ = true;
      ahead_start_ms_ = SecondsToMs(ahead.line().value);
      MakeSeriesKey(ahead.line().labels, parser.type(),
                    name.substr(0, name.size() - kCreatedSuffix.size()), &ahead_key_);
      break;
    }
    ahead_until_ = ahead.line_start();
  }

  std::string key_;
  // The last series that had a start time.
  bool has_last_ = false;
  std::string last_key_;
  int64_t last_start_ms_ = 0;
  // What the last look ahead says about all samples that end at or before `ahead_until_`.
  const char* ahead_until_ = nullptr;
  bool ahead_found_ = false;
  std::string ahead_key_;
  int64_t ahead_start_ms_ = 0;
};

// Thread-compatible.
class OpenMetricsReader final : public ExpositionReader {
 public:
  OpenMetricsReader(std::string_view body, const ReaderOptions& options)
      : options_(options), parser_(body), labels_(LabelEscapes::kText) {}

  bool NextBatch(EntryBatch* batch) override {
    batch->entries.clear();
    batch->exemplars.clear();
    labels_.Reset();
    arena_.Reset();
    while (!done_ && batch->entries.size() < kMaxBatchEntries &&
           arena_.num_bytes() < kMaxBatchBytes) {
      switch (parser_.Next(Exemplars::kRead)) {
        case OpenMetricsParser::Result::kLine:
          AddLine(batch);
          break;
        case OpenMetricsParser::Result::kError:
          status_ = parser_.status();
          done_ = true;
          break;
        case OpenMetricsParser::Result::kEnd:
          done_ = true;
          break;
      }
    }
    // What came before an error is handed out first.
    return !batch->entries.empty();
  }

  absl::Status status() const override { return status_; }

  absl::Status Labels(const Entry& entry, model::LabelsBuilder* out) const override {
    return labels_.Build(entry.labels_index, options_.type_and_unit_labels, out);
  }

 private:
  std::string_view Unescaped(std::string_view text) {
    if (text.find('\\') == std::string_view::npos) return text;
    return arena_.Copy(UnescapeLabel(text));
  }

  void AddLine(EntryBatch* batch) {
    const OpenMetricsLine& line = parser_.line();
    Entry entry;
    entry.kind = line.kind;
    entry.name = line.name;
    switch (line.kind) {
      case EntryKind::kType:
        entry.type = parser_.type();
        break;
      case EntryKind::kHelp:
        entry.text = Unescaped(line.text);
        break;
      case EntryKind::kUnit:
        entry.text = line.text;
        break;
      default:
        if (!AddSample(line, batch, &entry)) return;
        break;
    }
    batch->entries.push_back(entry);
  }

  // False if the line gives no sample.
  bool AddSample(const OpenMetricsLine& line, EntryBatch* batch, Entry* entry) {
    if (options_.parse_start_times && HasStartTime(parser_.type()) &&
        line.name.ends_with(kCreatedSuffix)) {
      return false;
    }
    entry->name = Unescaped(line.name);
    entry->series_key = line.series;
    entry->value = line.value;
    entry->has_time = line.has_time;
    entry->time_ms = line.time_ms;
    for (const model::Label& label : line.labels) labels_.Add(label.name, label.value);
    entry->labels_index =
        labels_.AddSample({labels_.CloseRange(), line.name, parser_.type(), parser_.unit()});
    if (options_.parse_start_times) entry->start_time_ms = start_times_.Find(parser_);
    if (line.has_exemplar) {
      entry->first_exemplar = static_cast<uint32_t>(batch->exemplars.size());
      entry->num_exemplars = 1;
      batch->exemplars.push_back({model::Labels::FromPairs(line.exemplar_labels),
                                  line.exemplar_value, line.exemplar_has_time,
                                  line.exemplar_time_ms});
    }
    return true;
  }

  const ReaderOptions options_;
  OpenMetricsParser parser_;
  StartTimes start_times_;
  SampleLabels labels_;
  TextArena arena_;
  bool done_ = false;
  absl::Status status_;
};

}  // namespace

std::unique_ptr<ExpositionReader> NewOpenMetricsReader(std::string_view body,
                                                       const ReaderOptions& options) {
  return std::make_unique<OpenMetricsReader>(body, options);
}

}  // namespace narthex::codec
