#include "narthex/db/database.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "narthex/base/log.h"
#include "tests/support/block_builder.h"
#include "tests/support/fault_fs.h"
#include "tests/support/manual_clock.h"

namespace narthex::db {
namespace {

using Samples = std::vector<std::pair<int64_t, double>>;

// A logger that keeps its lines: message, then the values of the fields.
class LineLogger final : public base::Logger {
 public:
  bool Enabled(base::LogLevel level) const override { return level >= base::LogLevel::kWarn; }
  void Log(base::LogLevel, std::string_view message,
           std::initializer_list<base::LogField> fields) const override {
    lines_ += std::string(message);
    for (const base::LogField& field : fields) lines_ += " " + std::string(field.value);
    lines_ += "\n";
  }
  const std::string& lines() const { return lines_; }

 private:
  mutable std::string lines_;
};

// A directory with a block of series {__name__="m", i="0"} and {..., i="1"}: samples at 0, 10 ...
// 390.
class DatabaseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        support::WriteFloatBlock(&fs_, "data",
                                 {{{"__name__", "m"}, {"i", "0"}}, {{"__name__", "m"}, {"i", "1"}}},
                                 /*num_samples=*/40, /*samples_per_chunk=*/20,
                                 /*step_ms=*/10)
            .ok());
  }
  void Open() {
    database_.reset();
    DatabaseOptions options;
    options.path = "data";
    auto database = Database::Open(
        options, {.clock = &clock_, .fs = &fs_, .logger = &logger_, .registry = nullptr});
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }
  model::AppendOutcome Append(std::string_view i, int64_t time_ms, double value) {
    const auto appender = database_->NewAppender();
    const model::Label labels[] = {{"__name__", "m"}, {"i", i}};
    const model::FloatSample sample{
        .ref = appender->Resolve(labels).value(), .time_ms = time_ms, .value = value};
    model::AppendOutcome outcome{};
    appender->AppendFloats({&sample, 1}, {&outcome, 1});
    EXPECT_TRUE(appender->Commit().ok());
    return outcome;
  }
  Samples Read(std::string_view i, model::TimeRange range) {
    const auto querier = database_->NewQuerier(range).value();
    model::SelectHints hints;
    hints.range = range;
    const auto matcher = model::Matcher::Create(model::MatchType::kEqual, "i", i).value();
    const auto selection = querier->Select({&matcher, 1}, hints).value();
    Samples samples;
    if (selection->size() == 0) return samples;
    EXPECT_EQ(selection->size(), 1u);
    const auto cursor = selection->NewCursor(model::HistogramDetail::kFull);
    cursor->Seek(0, range);
    while (cursor->Next()) {
      for (size_t row = 0; row < cursor->batch().times_ms.size(); ++row) {
        samples.emplace_back(cursor->batch().times_ms[row], cursor->batch().values[row]);
      }
    }
    EXPECT_TRUE(cursor->status().ok()) << cursor->status();
    return samples;
  }

  support::FaultFs fs_;
  support::ManualClock clock_;
  LineLogger logger_;
  std::unique_ptr<Database> database_;
};

TEST_F(DatabaseTest, BlocksAndHeadAnswerAsOne) {
  Open();
  EXPECT_EQ(Append("1", 1000, 7), model::AppendOutcome::kAccepted);
  EXPECT_EQ(Append("2", 1000, 8), model::AppendOutcome::kAccepted);
  EXPECT_EQ(Read("1", {375, 2000}), (Samples{{380, 1}, {390, 1}, {1000, 7}}));
  EXPECT_EQ(Read("0", {375, 2000}), (Samples{{380, 0}, {390, 0}}));
  EXPECT_EQ(Read("2", {0, 2000}), (Samples{{1000, 8}}));
  EXPECT_EQ(Read("1", {600, 2000}), (Samples{{1000, 7}}));
  EXPECT_EQ(database_->min_time_ms(), 0);
  EXPECT_EQ(database_->max_time_ms(), 1000);
  const auto querier = database_->NewQuerier({0, 2000}).value();
  EXPECT_EQ(querier->LabelValues("i", {}, 0).value(), (std::vector<std::string>{"0", "1", "2"}));
}

TEST_F(DatabaseTest, AllIsThereAfterOpeningAnew) {
  Open();
  EXPECT_EQ(Append("1", 1000, 7), model::AppendOutcome::kAccepted);
  ASSERT_TRUE(database_->Close().ok());
  Open();
  EXPECT_EQ(Read("1", {375, 2000}), (Samples{{380, 1}, {390, 1}, {1000, 7}}));
}

TEST_F(DatabaseTest, WhatBlocksCoverIsNotTakenAgain) {
  Open();
  EXPECT_EQ(Append("1", 200, 7), model::AppendOutcome::kOutOfBounds);
}

TEST_F(DatabaseTest, ABlockThatCannotBeReadIsLeftOutAndNamed) {
  const std::string index = support::BlockDirectory("data") + "/index";
  ASSERT_TRUE(fs_.Truncate(index, 20).ok());
  Open();
  EXPECT_NE(logger_.lines().find(support::BlockDirectory("")), std::string::npos)
      << logger_.lines();
  EXPECT_EQ(Read("1", {0, 2000}), Samples{});
  EXPECT_EQ(Append("1", 1000, 7), model::AppendOutcome::kAccepted);
  EXPECT_EQ(Read("1", {0, 2000}), (Samples{{1000, 7}}));
  EXPECT_EQ(fs_.FileSize(index).value(), 20u);  // It stays as it is.
}

}  // namespace
}  // namespace narthex::db
