// Text 0.0.4 and OpenMetrics 1.0. They differ in the name of counter families, in escapes of help
// texts, and in how floats and counts are printed.
#include <limits>

#include "codec/exposition/writers.h"
#include "narthex/base/float_text.h"
#include "narthex/base/strings.h"

namespace narthex::codec {
namespace {

constexpr std::string_view kTotal = "_total";

void AppendEscaped(std::string* out, std::string_view text, bool with_quotes) {
  for (const char c : text) {
    if (c == '\n') {
      *out += "\\n";
      continue;
    }
    if (c == '\\' || (c == '"' && with_quotes)) *out += '\\';
    *out += c;
  }
}

// Writes one family.
class FamilyWriter {
 public:
  FamilyWriter(const base::FamilySnapshot& family, WriteFormat format, std::string* out)
      : family_(family), is_open_metrics_(format == WriteFormat::kOpenMetrics), out_(out) {}

  void AppendMetadata() {
    const bool is_total = family_.name.ends_with(kTotal);
    std::string_view name = family_.name;
    std::string_view type = TypeText();
    if (is_open_metrics_ && family_.type == base::MetricType::kCounter) {
      if (is_total) name.remove_suffix(kTotal.size());
      if (!is_total) type = "unknown";
    }
    base::StrAppend(out_, "# HELP ", name, " ");
    AppendEscaped(out_, family_.help, /*with_quotes=*/is_open_metrics_);
    base::StrAppend(out_, "\n# TYPE ", name, " ", type, "\n");
  }

  void AppendPoint(const base::MetricPoint& point) {
    switch (family_.type) {
      case base::MetricType::kCounter:
      case base::MetricType::kGauge:
        AppendFloatSample(point, "", {}, 0, point.value);
        break;
      case base::MetricType::kSummary:
        for (const auto& [quantile, value] : point.summary.quantiles) {
          AppendFloatSample(point, "", "quantile", quantile, value);
        }
        AppendFloatSample(point, "_sum", {}, 0, point.summary.sum);
        AppendCountSample(point, "_count", {}, 0, point.summary.count);
        break;
      case base::MetricType::kHistogram:
        AppendHistogram(point, point.histogram);
        break;
    }
  }

 private:
  std::string_view TypeText() const {
    switch (family_.type) {
      case base::MetricType::kCounter:
        return "counter";
      case base::MetricType::kGauge:
        return "gauge";
      case base::MetricType::kSummary:
        return "summary";
      case base::MetricType::kHistogram:
        break;
    }
    return "histogram";
  }

  void AppendHistogram(const base::MetricPoint& point, const base::HistogramData& histogram) {
    for (size_t i = 0; i < histogram.upper_bounds.size(); ++i) {
      AppendCountSample(point, "_bucket", "le", histogram.upper_bounds[i],
                        histogram.cumulative_counts[i]);
    }
    AppendCountSample(point, "_bucket", "le", std::numeric_limits<double>::infinity(),
                      histogram.count);
    AppendFloatSample(point, "_sum", {}, 0, histogram.sum);
    AppendCountSample(point, "_count", {}, 0, histogram.count);
  }

  void AppendFloatSample(const base::MetricPoint& point, std::string_view suffix,
                         std::string_view extra_label, double extra_value, double value) {
    AppendSeries(point, suffix, extra_label, extra_value);
    AppendFloat(value);
    *out_ += '\n';
  }

  void AppendCountSample(const base::MetricPoint& point, std::string_view suffix,
                         std::string_view extra_label, double extra_value, uint64_t count) {
    AppendSeries(point, suffix, extra_label, extra_value);
    if (is_open_metrics_) {
      base::StrAppend(out_, count);
    } else {
      AppendFloat(static_cast<double>(count));
    }
    *out_ += '\n';
  }

  void AppendSeries(const base::MetricPoint& point, std::string_view suffix,
                    std::string_view extra_label, double extra_value) {
    base::StrAppend(out_, family_.name, suffix);
    char separator = '{';
    for (const auto& [name, value] : point.labels) {
      base::StrAppend(out_, separator, name, "=\"");
      AppendEscaped(out_, value, /*with_quotes=*/true);
      *out_ += '"';
      separator = ',';
    }
    if (!extra_label.empty()) {
      base::StrAppend(out_, separator, extra_label, "=\"");
      AppendFloat(extra_value);
      *out_ += '"';
      separator = ',';
    }
    *out_ += separator == ',' ? "} " : " ";
  }

  void AppendFloat(double value) {
    if (is_open_metrics_) {
      base::AppendFloatOpenMetrics(out_, value);
    } else {
      base::AppendFloatG(out_, value);
    }
  }

  const base::FamilySnapshot& family_;
  const bool is_open_metrics_;
  std::string* const out_;
};

}  // namespace

void AppendFamilyText(const base::FamilySnapshot& family, WriteFormat format, std::string* out) {
  FamilyWriter writer(family, format, out);
  writer.AppendMetadata();
  for (const base::MetricPoint& point : family.points) writer.AppendPoint(point);
}

}  // namespace narthex::codec
