#include "server/config/config.h"

#include <fnmatch.h>

#include <array>
#include <set>

#include "narthex/base/status.h"
#include "server/config/yaml_map.h"

namespace narthex::server {
namespace {

using base::YamlNode;

std::string Directory(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string Resolve(const std::string& directory, const std::string& path) {
  return path.empty() || path[0] == '/' ? path : base::StrCat(directory, "/", path);
}

void ResolvePaths(const std::string& directory, scrape::PoolOptions* config) {
  config->scrape_failure_log_file = Resolve(directory, config->scrape_failure_log_file);
  net::HttpClientOptions& http = config->http;
  for (std::string* path :
       {&http.username_file, &http.password_file, &http.credentials_file,
        &http.oauth2.client_secret_file, &http.tls.ca_file, &http.tls.cert_file, &http.tls.key_file,
        &http.oauth2.tls.ca_file, &http.oauth2.tls.cert_file, &http.oauth2.tls.key_file}) {
    *path = Resolve(directory, *path);
  }
}

absl::StatusOr<YamlNode> ReadYaml(const std::string& path, base::Fs* fs) {
  NX_ASSIGN_OR_RETURN(const std::string text, fs->ReadFile(path));
  auto node = base::ParseYaml(text);
  if (!node.ok()) return base::WithContext(node.status(), "parsing YAML file " + path);
  return node;
}

// Sections of a whole configuration that this version reads past, telling so.
constexpr std::array<std::string_view, 6> kSectionsWithoutEffect = {
    "rule_files", "alerting", "remote_write", "remote_read", "tracing", "otlp"};

class Loader {
 public:
  Loader(const ConfigDefaults& defaults, base::Fs* fs) : fs_(fs) {
    config_.global.defaults.extra_scrape_metrics = defaults.extra_scrape_metrics;
  }

  absl::Status Load(const std::string& path) {
    NX_ASSIGN_OR_RETURN(const YamlNode root, ReadYaml(path, fs_));
    std::vector<std::string> scrape_files;
    NX_RETURN_IF_ERROR(
        base::WithContext(DecodeTop(root, path, &scrape_files), "parsing YAML file " + path));
    for (const std::string& pattern : scrape_files) {
      NX_RETURN_IF_ERROR(LoadScrapeFiles(Resolve(Directory(path), pattern)));
    }
    return absl::OkStatus();
  }

  Config Take() { return std::move(config_); }

 private:
  absl::Status DecodeTop(const YamlNode& root, const std::string& path,
                         std::vector<std::string>* scrape_files) {
    YamlMap map(root, "the configuration");
    if (const YamlNode* global = map.Node("global")) {
      NX_ASSIGN_OR_RETURN(config_.global, DecodeGlobal(*global, config_.global, &config_.warnings));
      WarnOfQueryLog(*global);
      config_.global.query_log_file = Resolve(Directory(path), config_.global.query_log_file);
    }
    DecodeScrapeConfigs(&map, Directory(path));
    if (const YamlNode* runtime = map.Node("runtime")) {
      YamlMap runtime_map(*runtime, "runtime");
      int64_t gogc = 75;  // Of the garbage collector of another server: read and of no use here.
      runtime_map.Signed("gogc", &gogc);
      NX_RETURN_IF_ERROR(runtime_map.Finish());
    }
    if (const YamlNode* storage = map.Node("storage")) WarnOfNoEffect("storage", storage->line);
    for (const std::string_view section : kSectionsWithoutEffect) {
      if (const YamlNode* node = map.Node(section)) WarnOfNoEffect(section, node->line);
    }
    map.Strings("scrape_config_files", scrape_files);
    for (const std::string& pattern : *scrape_files) {
      const std::string folder = Directory(pattern);
      if (folder.find_first_of("*?[") != std::string::npos) {
        map.Error(map.Node("scrape_config_files")->line,
                  base::StrCat("invalid scrape config file path \"", pattern, "\""));
      }
    }
    return map.Finish();
  }

  void WarnOfNoEffect(std::string_view section, int line) {
    config_.warnings.push_back(
        base::StrCat("line ", line, ": ", section, " has no effect in this version"));
  }

  void WarnOfQueryLog(const YamlNode& global) {
    if (const YamlNode* node = global.Find("query_log_file")) {
      WarnOfNoEffect("query_log_file", node->line);
    }
  }

  void DecodeScrapeConfigs(YamlMap* map, const std::string& directory) {
    for (const YamlNode* node :
         map->List("scrape_configs", "empty or null scrape config section")) {
      auto config = DecodeScrapeConfig(*node, config_.global, &config_.warnings);
      if (!config.ok()) {
        map->Adopt(config.status());
        return;
      }
      ResolvePaths(directory, &*config);
      if (!job_names_.insert(config->job_name).second) {
        map->Error(node->line, base::StrCat("found multiple scrape configs with job name \"",
                                            config->job_name, "\""));
      }
      config_.scrape_configs.push_back(*std::move(config));
    }
  }

  absl::Status LoadScrapeFiles(const std::string& pattern) {
    const std::string directory = Directory(pattern);
    const std::string name_pattern = pattern.substr(pattern.rfind('/') + 1);
    const auto names = fs_->List(directory);
    if (!names.ok()) return absl::OkStatus();  // A glob without matches is no error.
    for (const std::string& name : *names) {
      if (fnmatch(name_pattern.c_str(), name.c_str(), 0) != 0) continue;
      const std::string path = base::StrCat(directory, "/", name);
      NX_ASSIGN_OR_RETURN(const YamlNode root, ReadYaml(path, fs_));
      YamlMap map(root, "the scrape config file");
      DecodeScrapeConfigs(&map, directory);
      NX_RETURN_IF_ERROR(base::WithContext(map.Finish(), "parsing YAML file " + path));
    }
    return absl::OkStatus();
  }

  base::Fs* const fs_;
  Config config_;
  std::set<std::string> job_names_;
};

}  // namespace

absl::StatusOr<Config> LoadConfig(const std::string& path, const ConfigDefaults& defaults,
                                  base::Fs* fs) {
  Loader loader(defaults, fs);
  NX_RETURN_IF_ERROR(loader.Load(path));
  return loader.Take();
}

}  // namespace narthex::server
