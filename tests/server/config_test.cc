#include "server/config/config.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "narthex/base/yaml.h"

namespace narthex::server {
namespace {

namespace fs = std::filesystem;

class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "config-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const fs::path path = directory_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  absl::StatusOr<Config> Load(const std::string& text) const {
    return LoadConfig(Write("prometheus.yml", text), {}, &base::PosixFs());
  }
  // The error without the file's name in front.
  std::string ErrorOf(const std::string& text) const {
    const auto config = Load(text);
    const std::string message(base::Message(config.status()));
    const std::string prefix =
        base::StrCat("parsing YAML file ", (directory_ / "prometheus.yml").string(), ": ");
    EXPECT_EQ(message.substr(0, prefix.size()), prefix) << message;
    return message.substr(std::min(message.size(), prefix.size()));
  }

  fs::path directory_;
};

TEST_F(ConfigTest, AnEmptyFileIsTheDefaults) {
  const auto config = Load("");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->global.scrape_interval_ms, 60'000);
  EXPECT_EQ(config->global.scrape_timeout_ms, 10'000);
  EXPECT_TRUE(config->scrape_configs.empty());
}

TEST_F(ConfigTest, JobsInheritFromGlobal) {
  const auto config = Load(R"(
global:
  scrape_interval: 5s
  sample_limit: 10
  scrape_native_histograms: true
  external_labels: {a: b}
scrape_configs:
  - job_name: one
    static_configs:
      - targets: ['h:1', 'h:2']
        labels: {x: y}
  - job_name: two
    scrape_interval: 30s
    scrape_timeout: 20s
    sample_limit: 20
    scrape_native_histograms: false
    metrics_path: /m
    params: {p: [1, 2]}
    basic_auth: {username: u, password: s3cret}
)");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto& one = config->scrape_configs[0];
  EXPECT_EQ(one.scrape_interval_ms, 5'000);
  EXPECT_EQ(one.scrape_timeout_ms, 5'000);
  EXPECT_EQ(one.sample_limit, 10u);
  EXPECT_TRUE(one.scrape_native_histograms);
  EXPECT_EQ(one.protocols.front(), scrape::ScrapeProtocol::kPrometheusProto);
  ASSERT_EQ(one.static_groups.size(), 1u);
  EXPECT_EQ(one.static_groups[0].targets[1].at("__address__"), "h:2");
  EXPECT_EQ(one.static_groups[0].labels.at("x"), "y");
  const auto& two = config->scrape_configs[1];
  EXPECT_EQ(two.scrape_timeout_ms, 20'000);
  EXPECT_EQ(two.sample_limit, 20u);
  EXPECT_EQ(two.protocols.front(), scrape::ScrapeProtocol::kOpenMetricsText1_0_0);
  EXPECT_EQ(two.params.at("p"), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(two.http.has_basic_auth);
}

TEST_F(ConfigTest, UnknownKeysAreErrorsWithTheirLine) {
  EXPECT_EQ(ErrorOf("global:\n  scrape_intervall: 5s\n"),
            "line 2: field scrape_intervall not found in global");
  EXPECT_EQ(ErrorOf("globall: {}\n"), "line 1: field globall not found in the configuration");
  EXPECT_EQ(ErrorOf("scrape_configs:\n- job_name: a\n  tls_config:\n    ca_fil: x\n"),
            "line 4: field ca_fil not found in tls_config");
}

TEST_F(ConfigTest, BadValuesAreErrorsWithTheirLine) {
  EXPECT_EQ(ErrorOf("global:\n  scrape_interval: 5x\n"),
            "line 2: not a valid duration string: \"5x\"");
  EXPECT_EQ(ErrorOf("scrape_configs:\n- job_name: a\n  honor_labels: maybe\n"),
            "line 3: cannot unmarshal \"maybe\" into bool (field honor_labels in scrape_config)");
  EXPECT_EQ(ErrorOf("scrape_configs:\n- job_name: ''\n"), "line 2: job_name is empty");
  EXPECT_EQ(ErrorOf("scrape_configs:\n- job_name: a\n- job_name: a\n"),
            "line 3: found multiple scrape configs with job name \"a\"");
  EXPECT_EQ(ErrorOf("scrape_configs:\n-\n"), "line 2: empty or null scrape config section");
  EXPECT_EQ(
      ErrorOf("scrape_configs:\n- job_name: a\n  scrape_interval: 5s\n  scrape_timeout: 6s\n"),
      "line 4: scrape timeout greater than scrape interval for scrape config with job name "
      "\"a\"");
  EXPECT_EQ(ErrorOf("scrape_configs:\n- job_name: a\n  bearer_token: x\n  bearer_token_file: y\n"),
            "line 2: at most one of bearer_token & bearer_token_file must be configured");
}

TEST_F(ConfigTest, RelabelRulesAreChecked) {
  EXPECT_EQ(ErrorOf("scrape_configs:\n- job_name: a\n  relabel_configs:\n  - action: hashmod\n"
                    "    target_label: x\n"),
            "line 4: relabel configuration for hashmod requires non-zero modulus");
  EXPECT_EQ(ErrorOf("scrape_configs:\n- job_name: a\n  relabel_configs:\n  -\n"),
            "line 4: empty or null target relabeling rule in scrape config");
}

TEST_F(ConfigTest, AMissingFileIsNamed) {
  const auto config = LoadConfig((directory_ / "none.yml").string(), {}, &base::PosixFs());
  EXPECT_EQ(config.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(base::Message(config.status()).find("none.yml"), std::string_view::npos);
}

TEST_F(ConfigTest, SectionsWithoutEffectAreTold) {
  const auto config = Load(
      "rule_files: [a.yml]\nscrape_configs:\n- job_name: a\n"
      "  kubernetes_sd_configs:\n  - role: pod\n");
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->warnings.size(), 2u);
  EXPECT_EQ(config->warnings[0].substr(0, 7), "line 5:");
  EXPECT_NE(config->warnings[1].find("rule_files"), std::string::npos);
}

TEST_F(ConfigTest, ScrapeConfigFilesAddJobs) {
  Write("jobs/b.yml", "scrape_configs:\n- job_name: b\n  tls_config: {ca_file: ca.pem}\n");
  const auto config = Load("scrape_config_files: ['jobs/*.yml']\nscrape_configs:\n- job_name: a\n");
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->scrape_configs.size(), 2u);
  EXPECT_EQ(config->scrape_configs[1].http.tls.ca_file, (directory_ / "jobs/ca.pem").string());
}

TEST_F(ConfigTest, ExternalLabelsExpandTheEnvironment) {
  setenv("NX_CONFIG_TEST", "value", 1);
  unsetenv("NX_CONFIG_TEST_NONE");
  const auto config = Load(
      "global:\n  external_labels:\n    a: ${NX_CONFIG_TEST}-$NX_CONFIG_TEST\n    b: $$x\n"
      "    c: a${NX_CONFIG_TEST_NONE}b\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->global.external_labels.at("a"), "value-value");
  EXPECT_EQ(config->global.external_labels.at("b"), "$x");
  EXPECT_EQ(config->global.external_labels.at("c"), "ab");
  EXPECT_EQ(config->warnings.size(), 1u);
}

TEST_F(ConfigTest, ThePrintedFormLoadsAgainAndHidesSecrets) {
  const auto config = Load(R"(
global: {scrape_interval: 5s, external_labels: {a: "b\n"}}
scrape_configs:
  - job_name: one
    params: {p: [x]}
    authorization: {credentials: s3cret}
    static_configs: [{targets: ['h:1'], labels: {x: y}}]
    relabel_configs:
      - {source_labels: [a, b], regex: 'x(.*)', target_label: c}
)");
  ASSERT_TRUE(config.ok()) << config.status();
  const std::string yaml = ConfigYaml(*config);
  EXPECT_EQ(yaml.find("s3cret"), std::string::npos);
  const auto again = Load(yaml);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << yaml;
  EXPECT_EQ(ConfigYaml(*again), yaml);
  EXPECT_EQ(again->scrape_configs[0].relabel_configs, config->scrape_configs[0].relabel_configs);
}

TEST_F(ConfigTest, TheExampleConfigurationsLoad) {
  for (const auto& entry : fs::directory_iterator(fs::path(NX_SOURCE_DIR) / "configs")) {
    const auto config = LoadConfig(entry.path().string(), {}, &base::PosixFs());
    EXPECT_TRUE(config.ok()) << config.status();
  }
}

}  // namespace
}  // namespace narthex::server
