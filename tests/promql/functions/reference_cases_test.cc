// Replays what Prometheus 3.14 computed for random input: reference_cases.txt, one case a line, the
// words separated by blanks, floats as the hexadecimal digits of their bits. A histogram is: hint,
// schema, zero threshold, zero count, count, sum, positive spans, negative spans, positive buckets,
// negative buckets, custom bounds; each list begins with its length. The words of a case are read
// in the order in which the Replay functions below ask for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "narthex/model/histogram_math.h"
#include "narthex/model/histogram_text.h"
#include "promql/functions/annotations.h"
#include "promql/functions/instant_functions.h"
#include "promql/functions/quantile.h"
#include "promql/functions/range_functions.h"

namespace narthex::promql {
namespace {

using model::FloatHistogram;
using model::HistogramView;

// The words of one case.
class Case {
 public:
  explicit Case(const std::string& line) : words_(line) {}

  std::string Word() {
    std::string word;
    words_ >> word;
    return word;
  }
  int64_t Integer() { return std::stoll(Word()); }
  double Float() { return std::bit_cast<double>(std::stoull(Word(), nullptr, 16)); }
  template <typename Read>
  auto List(Read read) {
    std::vector<decltype(read())> list;
    for (int64_t n = Integer(); n > 0; --n) list.push_back(read());
    return list;
  }
  std::vector<double> Floats() {
    return List([this] { return Float(); });
  }
  std::vector<model::BucketSpan> Spans() {
    return List([this] {
      const int32_t offset = static_cast<int32_t>(Integer());
      return model::BucketSpan{offset, static_cast<uint32_t>(Integer())};
    });
  }
  FloatHistogram Histogram() {
    auto layout = std::make_shared<model::HistogramLayout>();
    FloatHistogram histogram;
    histogram.hint = static_cast<model::CounterResetHint>(Integer());
    layout->schema = static_cast<int32_t>(Integer());
    layout->zero_threshold = Float();
    histogram.zero_count = Float();
    histogram.count = Float();
    histogram.sum = Float();
    layout->positive_spans = Spans();
    layout->negative_spans = Spans();
    histogram.buckets = Floats();
    for (const double bucket : Floats()) histogram.buckets.push_back(bucket);
    layout->custom_bounds = Floats();
    histogram.layout = std::move(layout);
    return histogram;
  }
  // Annotation texts, blanks written as underscores, sorted.
  std::vector<std::string> Texts() {
    return List([this] { return Word(); });
  }

 private:
  std::istringstream words_;
};

// Logarithms differ in the last bits between mathematical libraries.
void ExpectNear(double got, double want) {
  if (std::isnan(want) || std::isinf(want)) {
    EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << got << " " << want;
  } else {
    EXPECT_NEAR(got, want, 1e-12 * std::abs(want));
  }
}

void ExpectSame(double got, double want) {
  EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << got << " " << want;
}

// After compaction, which says nothing about values.
void ExpectSameHistogram(FloatHistogram got, FloatHistogram want) {
  model::Compact(&got);
  model::Compact(&want);
  EXPECT_EQ(model::ToTestNotation(got), model::ToTestNotation(want));
  EXPECT_EQ(got.layout->zero_threshold, want.layout->zero_threshold);
  EXPECT_EQ(got.layout->positive_spans, want.layout->positive_spans);
  EXPECT_EQ(got.layout->negative_spans, want.layout->negative_spans);
}

std::string WithUnderscores(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

void ExpectTexts(NoteSet notes, double quantile, const std::vector<std::string>& want) {
  Annotations annotations;
  annotations.AddAll(notes, 0, "m");
  if (notes.Has(Note::kInvalidQuantile)) annotations.AddInvalidQuantile(quantile, 0);
  std::vector<std::string> texts, infos;
  annotations.Render("m", &texts, &infos);
  texts.insert(texts.end(), infos.begin(), infos.end());
  for (std::string& text : texts) text = WithUnderscores(text.substr(0, text.rfind(" (1:1)")));
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(texts, want);
}

void ReplayCombination(Case* c, bool subtract) {
  FloatHistogram target = c->Histogram();
  const FloatHistogram other = c->Histogram();
  const model::Combined combined =
      subtract ? model::Subtract(&target, other) : model::Add(&target, other);
  EXPECT_EQ(combined.compatible, c->Integer() != 0);
  EXPECT_EQ(combined.hint_collision, c->Integer() != 0);
  EXPECT_EQ(combined.bounds_reconciled, c->Integer() != 0);
  ExpectSameHistogram(target, c->Histogram());
}

void ReplaySum(Case* c) {
  model::HistogramSum sum;
  for (const FloatHistogram& histogram : c->List([c] { return c->Histogram(); })) {
    sum.Add(histogram);
  }
  ExpectSameHistogram(sum.Take(), c->Histogram());
}

void ReplayReset(Case* c) {
  const FloatHistogram current = c->Histogram();
  const FloatHistogram previous = c->Histogram();
  EXPECT_EQ(model::DetectReset(current, previous), c->Integer() != 0);
}

void ReplayTrim(Case* c) {
  FloatHistogram histogram = c->Histogram();
  const double limit = c->Float();
  const bool below = c->Integer() != 0;
  model::TrimBuckets(&histogram, limit, below ? model::Trim::kKeepBelow : model::Trim::kKeepAbove);
  const FloatHistogram want = c->Histogram();
  ExpectNear(histogram.count, want.count);
  ExpectNear(histogram.sum, want.sum);
  ExpectNear(histogram.zero_count, want.zero_count);
  EXPECT_EQ(histogram.layout->positive_spans, want.layout->positive_spans);
  EXPECT_EQ(histogram.layout->negative_spans, want.layout->negative_spans);
  ASSERT_EQ(histogram.buckets.size(), want.buckets.size());
  for (size_t i = 0; i < want.buckets.size(); ++i) {
    ExpectNear(histogram.buckets[i], want.buckets[i]);
  }
}

void ReplayCompaction(Case* c) {
  FloatHistogram histogram = c->Histogram();
  model::Compact(&histogram, static_cast<int>(c->Integer()));
  const FloatHistogram want = c->Histogram();
  EXPECT_TRUE(model::Equals(histogram, want)) << model::ToString(histogram);
}

void ReplayText(Case* c, std::string (*to_text)(const HistogramView&)) {
  const FloatHistogram histogram = c->Histogram();
  EXPECT_EQ(WithUnderscores(to_text(histogram)), c->Word());
}

void ReplayQuantile(Case* c) {
  const FloatHistogram histogram = c->Histogram();
  const double quantile = c->Float();
  NoteSet notes;
  ExpectNear(HistogramQuantile(quantile, histogram, &notes), c->Float());
  ExpectTexts(notes, quantile, c->Texts());
}

void ReplayFraction(Case* c) {
  const FloatHistogram histogram = c->Histogram();
  const double lower = c->Float();
  const double upper = c->Float();
  NoteSet notes;
  ExpectNear(HistogramFraction(lower, upper, histogram, &notes), c->Float());
  ExpectTexts(notes, 0, c->Texts());
}

std::vector<ClassicBucket> ClassicBuckets(Case* c) {
  const std::vector<double> numbers = c->Floats();
  std::vector<ClassicBucket> buckets;
  for (size_t i = 0; i < numbers.size(); i += 2) buckets.push_back({numbers[i], numbers[i + 1]});
  return buckets;
}

void ReplayClassicQuantile(Case* c) {
  std::vector<ClassicBucket> buckets = ClassicBuckets(c);
  const double quantile = c->Float();
  const ClassicQuantileResult result = ClassicQuantile(quantile, buckets);
  ExpectSame(result.value, c->Float());
  EXPECT_EQ(result.forced_monotonic, c->Integer() != 0);
  if (!result.forced_monotonic) return;
  ExpectSame(result.min_bucket, c->Float());
  ExpectSame(result.max_bucket, c->Float());
  ExpectSame(result.max_difference, c->Float());
}

void ReplayClassicFraction(Case* c) {
  std::vector<ClassicBucket> buckets = ClassicBuckets(c);
  const double lower = c->Float();
  const double upper = c->Float();
  ExpectSame(ClassicFraction(lower, upper, buckets), c->Float());
}

void ReplayHistogramFunction(Case* c) {
  const HistogramKernel kernel = FindHistogramFunction(c->Word());
  ASSERT_NE(kernel, nullptr);
  const FloatHistogram histogram = c->Histogram();
  ExpectSame(kernel(histogram), c->Float());
}

void ReplayRangeFunction(Case* c) {
  const std::string name = c->Word();
  const RangeFunction* const function = FindRangeFunction(name);
  ASSERT_NE(function, nullptr) << name;
  Window window;
  window.mode = static_cast<RangeMode>(c->Integer());
  window.start_ms = c->Integer();
  window.end_ms = c->Integer();
  window.eval_time_ms = c->Integer();
  RangeArguments arguments;
  arguments.first = c->Float();
  arguments.second = c->Float();
  std::vector<int64_t> float_times, histogram_times;
  std::vector<double> values;
  std::vector<FloatHistogram> histograms;
  for (int64_t n = c->Integer(); n > 0; --n) {
    float_times.push_back(c->Integer());
    values.push_back(c->Float());
  }
  for (int64_t n = c->Integer(); n > 0; --n) {
    histogram_times.push_back(c->Integer());
    histograms.push_back(c->Histogram());
  }
  const std::vector<HistogramView> views(histograms.begin(), histograms.end());
  window.float_times_ms = float_times;
  window.values = values;
  window.histogram_times_ms = histogram_times;
  window.histograms = views;

  NoteSet notes;
  RangeResult result;
  const Outcome outcome = function->kernel(window, arguments, &notes, &result);
  ASSERT_EQ(static_cast<int64_t>(outcome), c->Integer());
  if (outcome == Outcome::kFloat) ExpectSame(result.value, c->Float());
  if (outcome == Outcome::kHistogram) ExpectSameHistogram(result.histogram, c->Histogram());
  ExpectTexts(notes, arguments.first, c->Texts());
}

TEST(ReferenceCasesTest, KernelsAnswerAsPrometheusDid) {
  const std::map<std::string, std::function<void(Case*)>> replays = {
      {"add", [](Case* c) { ReplayCombination(c, /*subtract=*/false); }},
      {"sub", [](Case* c) { ReplayCombination(c, /*subtract=*/true); }},
      {"ksum", ReplaySum},
      {"reset", ReplayReset},
      {"trim", ReplayTrim},
      {"compact", ReplayCompaction},
      {"string", [](Case* c) { ReplayText(c, model::ToString); }},
      {"testexpr", [](Case* c) { ReplayText(c, model::ToTestNotation); }},
      {"quantile", ReplayQuantile},
      {"fraction", ReplayFraction},
      {"cquantile", ReplayClassicQuantile},
      {"cfraction", ReplayClassicFraction},
      {"hfunc", ReplayHistogramFunction},
      {"range", ReplayRangeFunction},
  };
  std::ifstream file(NX_SOURCE_DIR "/tests/promql/functions/reference_cases.txt");
  std::string line;
  size_t num_cases = 0;
  for (; std::getline(file, line); ++num_cases) {
    SCOPED_TRACE("line " + std::to_string(num_cases + 1) + ": " + line);
    Case words(line);
    const auto replay = replays.find(words.Word());
    ASSERT_NE(replay, replays.end());
    replay->second(&words);
  }
  EXPECT_GT(num_cases, 200u);
}

}  // namespace
}  // namespace narthex::promql
