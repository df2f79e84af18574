#include "server/flags.h"

#include "gtest/gtest.h"
#include "narthex/base/status.h"

namespace narthex::server {
namespace {

std::string ErrorOf(const std::vector<std::string>& args) {
  return std::string(base::Message(Flags::Parse(args).status()));
}

TEST(FlagsTest, DefaultsHold) {
  const auto flags = Flags::Parse({});
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->Text("config.file"), "prometheus.yml");
  EXPECT_EQ(flags->List("web.listen-address"), std::vector<std::string>{"0.0.0.0:9090"});
  EXPECT_EQ(flags->DurationMs("query.timeout"), 120'000);
  EXPECT_EQ(flags->Bytes("storage.tsdb.wal-segment-size"), 128ull << 20);
  EXPECT_TRUE(flags->Bool("storage.tsdb.wal-compression"));
  EXPECT_TRUE(flags->WithoutEffect().empty());
}

TEST(FlagsTest, ValuesComeWithAndWithoutAnEqualsSign) {
  const auto flags = Flags::Parse({"--config.file=a.yml", "--storage.tsdb.path", "-odd-",
                                   "--query.max-samples=5e3", "--no-storage.tsdb.wal-compression",
                                   "--web.enable-lifecycle"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->Text("config.file"), "a.yml");
  EXPECT_EQ(flags->Text("storage.tsdb.path"), "-odd-");
  EXPECT_EQ(flags->Int("query.max-samples"), 5'000);
  EXPECT_FALSE(flags->Bool("storage.tsdb.wal-compression"));
  EXPECT_TRUE(flags->Bool("web.enable-lifecycle"));
}

TEST(FlagsTest, ListsAndFeaturesRepeat) {
  const auto flags =
      Flags::Parse({"--web.listen-address=:1", "--web.listen-address=:2",
                    "--enable-feature=promql-experimental-functions,x", "--enable-feature=y"});
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->List("web.listen-address"), (std::vector<std::string>{":1", ":2"}));
  EXPECT_TRUE(flags->HasFeature("promql-experimental-functions"));
  EXPECT_TRUE(flags->HasFeature("y"));
}

TEST(FlagsTest, ErrorsReadAsTheReferences) {
  EXPECT_EQ(ErrorOf({"--x"}), "unknown long flag '--x'");
  EXPECT_EQ(ErrorOf({"-x"}), "unknown short flag '-x'");
  EXPECT_EQ(ErrorOf({"stray"}), "unexpected argument 'stray'");
  EXPECT_EQ(ErrorOf({"--config.file"}), "expected argument for flag '--config.file'");
  EXPECT_EQ(ErrorOf({"--web.enable-lifecycle=true"}), "unexpected argument 'true'");
  EXPECT_EQ(ErrorOf({"--web.enable-lifecycle", "true"}), "unexpected argument 'true'");
  EXPECT_EQ(ErrorOf({"--log.level=info", "--log.level=warn"}),
            "flag 'log.level' cannot be repeated");
}

TEST(FlagsTest, BadValuesAreRefused) {
  for (const char* arg :
       {"--query.timeout=5x", "--query.max-samples=many", "--log.level=loud",
        "--storage.tsdb.wal-segment-size=1MB", "--web.cors.origin=(", "--query.max-concurrency=0",
        "--storage.tsdb.retention.size=5", "--storage.tsdb.min-block-duration=0"}) {
    EXPECT_FALSE(Flags::Parse({arg}).ok()) << arg;
  }
}

TEST(FlagsTest, AgentFlagsNeedTheMode) {
  const auto flags = Flags::Parse({"--storage.agent.path=x"});
  EXPECT_EQ(flags.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(FlagsTest, FlagsWithoutEffectAreTold) {
  const auto flags = Flags::Parse(
      {"--web.enable-admin-api", "--enable-feature=exemplar-storage,native-histograms"});
  EXPECT_EQ(
      flags->WithoutEffect(),
      (std::vector<std::string>{"--web.enable-admin-api", "--enable-feature=exemplar-storage"}));
}

TEST(FlagsTest, HelpAndVersionWinOverErrors) {
  EXPECT_EQ(Flags::Parse({"--help"})->request(), Flags::Request::kHelp);
  EXPECT_EQ(Flags::Parse({"--version"})->request(), Flags::Request::kVersion);
  EXPECT_NE(Flags::Help().find("--storage.tsdb.path=data/"), std::string::npos);
}

}  // namespace
}  // namespace narthex::server
