#include "scrape/target.h"

#include <gtest/gtest.h>

namespace narthex::scrape {
namespace {

class TargetTest : public ::testing::Test {
 protected:
  TargetTest() { options_.job_name = "j"; }

  absl::StatusOr<std::optional<model::Labels>> Make(LabelMap own, LabelMap group = {}) {
    origin_.group =
        std::make_shared<const TargetGroup>(TargetGroup{"g", std::move(group), {std::move(own)}});
    config_ = CompilePoolOptions(options_, nullptr).value();
    return TargetLabels(*config_, origin_);
  }
  std::string ErrorOf(LabelMap own) { return std::string(Make(std::move(own)).status().message()); }
  // The URL of the only target.
  std::string Url(LabelMap own) {
    const model::Labels labels = Make(std::move(own)).value().value();
    return Target(labels, config_, origin_, &pool_).url();
  }

  PoolOptions options_;
  std::shared_ptr<const PoolConfig> config_;
  TargetOrigin origin_;
  MetadataPool pool_;
};

TEST_F(TargetTest, DefaultsFillWhatDiscoveryLeftOpen) {
  const model::Labels labels = Make({{"__address__", "h:1"}, {"env", "own"}},
                                    {{"env", "group"}, {"dc", "x"}, {"__meta_x", "gone"}})
                                   .value()
                                   .value();
  EXPECT_EQ(labels.ToString(),
            R"({__address__="h:1", __always_scrape_classic_histograms__="false", )"
            R"(__convert_classic_histograms_to_nhcb__="false", __metrics_path__="/metrics", )"
            R"(__scheme__="http", __scrape_interval__="1m", __scrape_native_histograms__="false", )"
            R"(__scrape_timeout__="10s", dc="x", env="own", instance="h:1", job="j"})");
  const Target target(labels, config_, origin_, &pool_);
  EXPECT_EQ(target.public_labels().ToString(), R"({dc="x", env="own", instance="h:1", job="j"})");
  EXPECT_EQ(target.url(), "http://h:1/metrics");
  EXPECT_EQ(target.interval_ms(), 60'000);
  EXPECT_EQ(target.timeout_ms(), 10'000);
  EXPECT_EQ(target.Describe().discovered_labels.Get("__meta_x"), "gone");
  EXPECT_EQ(target.Describe().health, TargetHealth::kUnknown);
}

TEST_F(TargetTest, DiscoveredLabelsOverruleTheOptions) {
  const model::Labels labels = Make({{"__address__", "h:1"},
                                     {"job", "other"},
                                     {"instance", "i"},
                                     {"__scheme__", "https"},
                                     {"__metrics_path__", "m"},
                                     {"__scrape_interval__", "20s"},
                                     {"__scrape_timeout__", "500ms"},
                                     {"__scrape_native_histograms__", "true"}})
                                   .value()
                                   .value();
  const Target target(labels, config_, origin_, &pool_);
  EXPECT_EQ(target.public_labels().ToString(), R"({instance="i", job="other"})");
  EXPECT_EQ(target.url(), "https://h:1/m");
  EXPECT_EQ(target.interval_ms(), 20'000);
  EXPECT_EQ(target.timeout_ms(), 500);
  EXPECT_TRUE(target.Flag(kNativeHistogramsLabel, false));
  EXPECT_FALSE(target.Flag("__absent__", false));
}

TEST_F(TargetTest, UrlsAreEscapedAsGoDoes) {
  options_.params = {{"module", {"a b&c", "second"}}, {"x", {"y"}}};
  EXPECT_EQ(Url({{"__address__", "[::1]:9"}, {"__metrics_path__", "/a b?c%"}}),
            "http://[::1]:9/a%20b%3Fc%25?module=a+b%26c&module=second&x=y");
  EXPECT_EQ(Url({{"__address__", "h"}, {"__param_module", "new"}, {"__param_z", "1"}}),
            "http://h/metrics?module=new&module=second&x=y&z=1");
}

TEST_F(TargetTest, RelabellingDropsAndRewrites) {
  options_.relabel_configs = {
      {.source_labels = {"__address__"}, .regex = "bad.*", .action = "drop"},
      {.source_labels = {"__meta_name"}, .target_label = "name"},
      {.source_labels = {"__meta_name"},
       .regex = "(.+)",
       .target_label = "__address__",
       .replacement = "$1:80"}};
  EXPECT_EQ(Make({{"__address__", "bad:1"}}).value(), std::nullopt);
  const model::Labels labels = Make({{"__address__", "x"}, {"__meta_name", "web"}}).value().value();
  EXPECT_EQ(labels.Get("__address__"), "web:80");
  EXPECT_EQ(labels.Get("instance"), "web:80");
  EXPECT_EQ(labels.Get("name"), "web");
  EXPECT_FALSE(labels.Has("__meta_name"));
}

TEST_F(TargetTest, BadTargetsAreErrors) {
  EXPECT_EQ(ErrorOf({{"a", "b"}}), "no address");
  EXPECT_EQ(ErrorOf({{"__address__", "http://h"}}), "\"http://h\" is not a valid hostname");
  EXPECT_EQ(ErrorOf({{"__address__", "h"}, {"__scrape_interval__", "x"}}),
            "error parsing scrape interval: not a valid duration string: \"x\"");
  EXPECT_EQ(ErrorOf({{"__address__", "h"}, {"__scrape_interval__", "0s"}}),
            "scrape interval cannot be 0");
  EXPECT_EQ(ErrorOf({{"__address__", "h"}, {"__scrape_timeout__", "0"}}),
            "scrape timeout cannot be 0");
  EXPECT_EQ(ErrorOf({{"__address__", "h"}, {"__scrape_timeout__", "2m"}}),
            "scrape timeout cannot be greater than scrape interval (\"2m\" > \"1m\")");
  EXPECT_EQ(ErrorOf({{"__address__", "h"}, {"__scrape_native_histograms__", "yes"}}),
            "error parsing scrape native histograms: strconv.ParseBool: parsing \"yes\": invalid "
            "syntax");
  EXPECT_EQ(ErrorOf({{"__address__", "h"}, {"a", "\xff"}}),
            R"(invalid label value for "a": "\xff")");
}

TEST_F(TargetTest, HashesNameTargets) {
  const auto hash = [&](LabelMap own) {
    const model::Labels labels = Make(std::move(own)).value().value();
    return Target(labels, config_, origin_, &pool_).hash();
  };
  const uint64_t base = hash({{"__address__", "h"}});
  EXPECT_EQ(hash({{"__address__", "h"}}), base);
  EXPECT_EQ(hash({{"__address__", "h"}, {"__meta_x", "y"}}), base);
  EXPECT_NE(hash({{"__address__", "h2"}}), base);
  EXPECT_NE(hash({{"__address__", "h"}, {"__scrape_timeout__", "9s"}}), base);
  options_.params = {{"p", {"1", "2"}}};
  const uint64_t with_params = hash({{"__address__", "h"}});
  options_.params = {{"p", {"1", "3"}}};
  EXPECT_NE(hash({{"__address__", "h"}}), with_params) << "second values are in the URL only";
}

}  // namespace
}  // namespace narthex::scrape
