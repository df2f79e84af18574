#include "narthex/base/log.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "base/log_line.h"
#include "gtest/gtest.h"
#include "tests/support/manual_clock.h"

namespace narthex::base {
namespace {

constexpr int64_t kTimeMs = 1'786'960'800'007;  // 2026-08-17T10:00:00.007Z

std::string Logfmt(std::string_view message, std::initializer_list<LogField> fields) {
  return FormatLogLine(LogFormat::kLogfmt, kTimeMs, LogLevel::kInfo, message, fields);
}
std::string Json(std::string_view message, std::initializer_list<LogField> fields) {
  return FormatLogLine(LogFormat::kJson, kTimeMs, LogLevel::kWarn, message, fields);
}

TEST(LogTest, LogfmtQuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(Logfmt("server is ready", {}),
            "time=2026-08-17T10:00:00.007Z level=INFO msg=\"server is ready\"\n");
  EXPECT_EQ(
      Logfmt("ready", {{"path", "/a/b?c"}, {"n", 3}, {"ok", true}, {"ratio", 0.5}}),
      "time=2026-08-17T10:00:00.007Z level=INFO msg=ready path=/a/b?c n=3 ok=true ratio=0.5\n");
  EXPECT_EQ(
      Logfmt("m", {{"a", ""}, {"b", "x=y"}, {"c", "\""}, {"d", "C:\\dir"}, {"e", "é"}}),
      "time=2026-08-17T10:00:00.007Z level=INFO msg=m a=\"\" b=\"x=y\" c=\"\\\"\" d=C:\\dir e=é\n");
}

TEST(LogTest, NoValueBreaksTheLine) {
  EXPECT_EQ(
      Logfmt("a\nb", {{"k", "\r\t\x01\x7f \xff"}}),
      "time=2026-08-17T10:00:00.007Z level=INFO msg=\"a\\nb\" k=\"\\r\\t\\x01\\x7f \\xff\"\n");
  EXPECT_EQ(Json("a\nb", {{"k", "\r\t\x01\x7f\\ \xff\xed\xa0\x80"}}),
            "{\"time\":\"2026-08-17T10:00:00.007Z\",\"level\":\"WARN\",\"msg\":\"a\\nb\","
            "\"k\":\"\\r\\t\\u0001\\u007f\\\\ \\ufffd\\ufffd\\ufffd\\ufffd\"}\n");
}

TEST(LogTest, JsonKeepsNumbersAsNumbers) {
  EXPECT_EQ(Json("m", {{"n", -3}, {"ok", false}, {"text", "1"}, {"c", 'x'}}),
            "{\"time\":\"2026-08-17T10:00:00.007Z\",\"level\":\"WARN\",\"msg\":\"m\",\"n\":-3,"
            "\"ok\":false,\"text\":\"1\",\"c\":\"x\"}\n");
}

TEST(LogTest, TimesBeforeTheEpochAreWellFormed) {
  EXPECT_EQ(FormatLogLine(LogFormat::kLogfmt, -1, LogLevel::kError, "m", {}),
            "time=1969-12-31T23:59:59.999Z level=ERROR msg=m\n");
}

TEST(LogTest, LinesBelowTheLevelAreDropped) {
  const support::ManualClock clock(kTimeMs);
  const auto logger = MakeStderrLogger(LogLevel::kWarn, LogFormat::kLogfmt, &clock);
  testing::internal::CaptureStderr();
  logger->Debug("d");
  logger->Info("i");
  logger->Warn("w");
  logger->Error("e", {{"k", "v"}});
  NullLogger().Error("n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "time=2026-08-17T10:00:00.007Z level=WARN msg=w\n"
            "time=2026-08-17T10:00:00.007Z level=ERROR msg=e k=v\n");
}

TEST(LogTest, LinesOfManyThreadsDoNotMix) {
  const support::ManualClock clock(kTimeMs);
  const auto logger = MakeStderrLogger(LogLevel::kInfo, LogFormat::kLogfmt, &clock);
  testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) logger->Info("m", {{"k", "v"}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = testing::internal::GetCapturedStderr();
  const std::string line = "time=2026-08-17T10:00:00.007Z level=INFO msg=m k=v\n";
  ASSERT_EQ(text.size(), 400 * line.size());
  for (size_t i = 0; i < text.size(); i += line.size())
    ASSERT_EQ(text.substr(i, line.size()), line);
}

}  // namespace
}  // namespace narthex::base
