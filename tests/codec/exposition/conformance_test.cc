// Bodies of real exporters and of the parsers' own test suites, against what Prometheus stored of
// them. The data lies outside of the tree: NARTHEX_CONFORMANCE_DIR names its folder; without it
// there are no such cases.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "narthex/codec/exposition/reader.h"

namespace narthex::codec {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// What was stored of one body. Series are their labels as JSON objects, so that both sides compare.
struct Stored {
  std::map<std::string, std::string> floats;  // Labels -> value as text.
  std::map<std::string, std::pair<std::string, std::string>> histograms;  // -> count and sum.
  size_t num_samples = 0;
  std::string error;
};

std::optional<fs::path> Folder() {
  const char* const folder = std::getenv("NARTHEX_CONFORMANCE_DIR");
  if (folder == nullptr) return std::nullopt;
  return fs::path(folder);
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Gunzip(const std::string& packed) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return "";
  std::string out(64 << 20, '\0');
  std::string in = packed;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

std::string JsonText(double value) {
  std::string text;
  base::AppendFloatJson(&text, value);
  return text;
}

std::string LabelsText(const model::Labels& labels) {
  Json object = Json::object();
  for (const model::Label& label : labels.Views()) {
    // The labels of the target took these names.
    const bool is_renamed = label.name == "job" || label.name == "instance";
    object[(is_renamed ? "exported_" : "") + std::string(label.name)] = std::string(label.value);
  }
  return object.dump();
}

// Reads a body and keeps what a scrape stores: an empty body is no samples, samples with a time of
// their own are too old, and a series that comes twice is a duplicate.
Stored ReadBody(ExpositionFormat format, std::string_view body) {
  if (body.empty()) return {};
  std::set<std::string> seen;
  ReaderOptions options;
  options.native_histograms = true;
  Stored stored;
  const auto reader = NewExpositionReader(format, body, options);
  EntryBatch batch;
  model::LabelsBuilder builder;
  while (reader->NextBatch(&batch)) {
    for (const Entry& entry : batch.entries) {
      const bool is_histogram =
          entry.kind == EntryKind::kHistogram || entry.kind == EntryKind::kFloatHistogram;
      if (entry.kind != EntryKind::kFloat && !is_histogram) continue;
      ++stored.num_samples;
      const absl::Status status = reader->Labels(entry, &builder);
      if (!status.ok()) stored.error = base::Message(status);
      const std::string labels = LabelsText(builder.Build());
      const bool is_twin = !seen.insert(labels).second;
      if (entry.has_time || is_twin) continue;
      if (entry.histogram != nullptr) {
        stored.histograms[labels] = {JsonText(static_cast<double>(entry.histogram->count)),
                                     JsonText(entry.histogram->sum)};
      } else if (entry.float_histogram != nullptr) {
        stored.histograms[labels] = {JsonText(entry.float_histogram->count),
                                     JsonText(entry.float_histogram->sum)};
      } else {
        stored.floats[labels] = JsonText(entry.value);
      }
    }
  }
  if (!reader->status().ok()) stored.error = base::Message(reader->status());
  return stored;
}

Stored Expected(const Json& series) {
  Stored stored;
  for (const Json& one : series) {
    const std::string labels = one.at("metric").dump();
    if (one.contains("histogram")) {
      stored.histograms[labels] = {one["histogram"]["count"], one["histogram"]["sum"]};
    } else {
      stored.floats[labels] = one.at("value");
    }
  }
  return stored;
}

ExpositionFormat FormatOfFile(const std::string& name, const Json& expected) {
  const std::string content_type = expected.value("content_type", "");
  const auto format = FormatOfContentType(content_type, "");
  EXPECT_TRUE(format.ok()) << name;
  return format.ok() ? *format : ExpositionFormat::kText;
}

void ComparePayload(const fs::path& body_path, const fs::path& expected_path) {
  SCOPED_TRACE(body_path);
  const Json expected = Json::parse(ReadFile(expected_path), nullptr, false);
  ASSERT_FALSE(expected.is_discarded());
  std::string body = ReadFile(body_path);
  if (body.starts_with("\x1f\x8b")) body = Gunzip(body);
  ASSERT_FALSE(body.empty());
  const Stored stored = ReadBody(FormatOfFile(body_path, expected), body);
  EXPECT_EQ(stored.error, "");
  EXPECT_EQ(std::to_string(stored.num_samples), expected["scrape"]["scrape_samples_scraped"]);
  const Stored want = Expected(expected["series"]);
  // Samples with a time of their own may be missing on either side.
  for (const auto& [labels, value] : stored.floats) {
    const auto found = want.floats.find(labels);
    if (found == want.floats.end()) {
      ADD_FAILURE() << labels << " was not stored";
    } else {
      EXPECT_EQ(value, found->second) << labels;
    }
  }
  EXPECT_EQ(stored.histograms, want.histograms);
}

TEST(ExpositionConformanceTest, RealPayloadsAreReadAsPrometheusReadsThem) {
  const auto folder = Folder();
  if (!folder.has_value()) GTEST_SKIP() << "NARTHEX_CONFORMANCE_DIR is not set";
  size_t num_compared = 0;
  for (const auto& item : fs::recursive_directory_iterator(*folder / "scrapes" / "expected")) {
    if (item.path().extension() != ".json") continue;
    const fs::path exporter = item.path().parent_path().filename();
    const std::string body_name = item.path().stem().string() + ".body";
    ComparePayload(*folder / "scrapes" / exporter / body_name, item.path());
    ++num_compared;
  }
  EXPECT_GT(num_compared, 0u);
}

TEST(ExpositionConformanceTest, ParserSamplesAreReadAsPrometheusReadsThem) {
  const auto folder = Folder();
  if (!folder.has_value()) GTEST_SKIP() << "NARTHEX_CONFORMANCE_DIR is not set";
  size_t num_compared = 0;
  for (const auto& item : fs::directory_iterator(*folder / "textparse" / "expected")) {
    if (item.path().extension() != ".json") continue;
    std::string name = item.path().stem().string();
    name.replace(name.find("--"), 2, "/");
    ComparePayload(*folder / "textparse" / name, item.path());
    ++num_compared;
  }
  EXPECT_GT(num_compared, 0u);
}

// The answers were recorded with 3.5.3; newer parsers refuse this body with "expected equal".
constexpr std::string_view kOtherWords = "bad_missing_equal_or_label_value_0";

// One line a case: whether Prometheus took the body, and if not, its error.
void CompareCases(ExpositionFormat format, const fs::path& lines,
                  const std::function<fs::path(const std::string&)>& body_of) {
  std::ifstream file(lines);
  std::string line;
  size_t num_compared = 0;
  while (std::getline(file, line)) {
    const Json expected = Json::parse(line, nullptr, false);
    ASSERT_FALSE(expected.is_discarded());
    const std::string name = expected["case"];
    SCOPED_TRACE(name);
    const Stored stored = ReadBody(format, ReadFile(body_of(name)));
    EXPECT_EQ(stored.error.empty(), expected["up"] == "1") << stored.error;
    if (name != kOtherWords) {
      EXPECT_EQ(stored.error, expected["error"]);
    }
    if (stored.error.empty()) {
      EXPECT_EQ(std::to_string(stored.num_samples), expected["samples"]);
      EXPECT_EQ(stored.floats, Expected(expected["series"]).floats);
    }
    ++num_compared;
  }
  EXPECT_GT(num_compared, 0u);
}

TEST(ExpositionConformanceTest, OpenMetricsCasesAreTakenOrRefusedWithTheSameWords) {
  const auto folder = Folder();
  if (!folder.has_value()) GTEST_SKIP() << "NARTHEX_CONFORMANCE_DIR is not set";
  CompareCases(ExpositionFormat::kOpenMetrics, *folder / "textparse/expected/openmetrics.jsonl",
               [&](const std::string& name) {
                 return *folder / "textparse" / "openmetrics" / name / "metrics";
               });
}

TEST(ExpositionConformanceTest, TextCasesAreTakenOrRefusedWithTheSameWords) {
  const auto folder = Folder();
  if (!folder.has_value()) GTEST_SKIP() << "NARTHEX_CONFORMANCE_DIR is not set";
  CompareCases(
      ExpositionFormat::kText, *folder / "textparse/expected/expfmt-corpus.jsonl",
      [&](const std::string& name) { return *folder / "textparse" / "expfmt" / "corpus" / name; });
}

}  // namespace
}  // namespace narthex::codec
