#include "tests/codec/exposition/entry_text.h"

#include "narthex/base/check.h"
#include "narthex/base/float_text.h"
#include "narthex/base/status.h"

namespace narthex::codec {
namespace {

using base::StrAppend;

void AppendTime(std::string* out, bool has_time, int64_t time_ms) {
  if (has_time) StrAppend(out, " @", time_ms);
}

template <typename Histogram>
void AppendHistogram(std::string* out, const Histogram& histogram) {
  const model::HistogramLayout& layout = *histogram.layout;
  StrAppend(out, "{{schema:", layout.schema, " count:", histogram.count, " sum:", histogram.sum,
            " zero:", histogram.zero_count, "/", layout.zero_threshold,
            " hint:", static_cast<int>(histogram.hint), " spans:");
  for (const model::BucketSpan& span : layout.positive_spans) {
    StrAppend(out, " +", span.offset, "x", span.length);
  }
  for (const model::BucketSpan& span : layout.negative_spans) {
    StrAppend(out, " -", span.offset, "x", span.length);
  }
  *out += " bounds:";
  for (const double bound : layout.custom_bounds) StrAppend(out, " ", bound);
  *out += " buckets:";
  for (const auto bucket : histogram.buckets) StrAppend(out, " ", bucket);
  *out += "}}";
}

void AppendSample(std::string* out, const ExpositionReader& reader, const EntryBatch& batch,
                  const Entry& entry) {
  model::LabelsBuilder builder;
  const absl::Status status = reader.Labels(entry, &builder);
  *out += status.ok() ? builder.Build().ToString() : std::string(base::Message(status));
  *out += ' ';
  if (entry.kind == EntryKind::kHistogram) {
    AppendHistogram(out, *entry.histogram);
  } else if (entry.kind == EntryKind::kFloatHistogram) {
    AppendHistogram(out, *entry.float_histogram);
  } else {
    base::AppendFloatG(out, entry.value);
  }
  AppendTime(out, entry.has_time, entry.time_ms);
  if (entry.start_time_ms != 0) StrAppend(out, " start=", entry.start_time_ms);
  for (uint32_t i = 0; i < entry.num_exemplars; ++i) {
    const model::Exemplar& exemplar = batch.exemplars.at(entry.first_exemplar + i);
    StrAppend(out, " #", exemplar.labels.ToString(), " ", exemplar.value);
    AppendTime(out, exemplar.has_time, exemplar.time_ms);
  }
}

void AppendEntry(std::string* out, const ExpositionReader& reader, const EntryBatch& batch,
                 const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::kType:
      StrAppend(out, "type ", entry.name, " ", model::MetricTypeName(entry.type));
      break;
    case EntryKind::kHelp:
      StrAppend(out, "help ", entry.name, " ", entry.text);
      break;
    case EntryKind::kUnit:
      StrAppend(out, "unit ", entry.name, " ", entry.text);
      break;
    default:
      AppendSample(out, reader, batch, entry);
      break;
  }
  *out += '\n';
}

}  // namespace

std::string ReadAll(ExpositionFormat format, std::string_view body, const ReaderOptions& options) {
  std::string out;
  const std::unique_ptr<ExpositionReader> reader = NewExpositionReader(format, body, options);
  EntryBatch batch;
  while (reader->NextBatch(&batch)) {
    for (const Entry& entry : batch.entries) AppendEntry(&out, *reader, batch, entry);
  }
  if (!reader->status().ok()) StrAppend(&out, "error: ", base::Message(reader->status()), "\n");
  return out;
}

void CheckReadable(ExpositionFormat format, std::string_view body) {
  for (const bool native : {false, true}) {
    ReaderOptions options;
    options.native_histograms = native;
    options.classic_with_native = native;
    options.parse_start_times = native;
    options.type_and_unit_labels = native;
    options.convert_classic_to_custom_buckets = native;
    const std::unique_ptr<ExpositionReader> reader = NewExpositionReader(format, body, options);
    EntryBatch batch;
    std::string text;
    while (reader->NextBatch(&batch)) {
      NX_CHECK(!batch.entries.empty());
      for (const Entry& entry : batch.entries) {
        AppendEntry(&text, *reader, batch, entry);
        StrAppend(&text, entry.series_key);
      }
    }
    NX_CHECK(reader->status().ok() || absl::IsInvalidArgument(reader->status()));
  }
}

}  // namespace narthex::codec
