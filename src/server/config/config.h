// The configuration file (prometheus.yml) as a value, read and checked as a whole.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/base/fs.h"
#include "server/config/scrape_config.h"

namespace narthex::server {

struct Config {
  GlobalConfig global;
  std::vector<scrape::PoolOptions> scrape_configs;  // Those of scrape_config_files included.
  std::vector<std::string> warnings;  // What is accepted but has no effect, with its line.
};

// What the command line says about defaults of the file.
struct ConfigDefaults {
  bool extra_scrape_metrics = false;
};

// Reads `path` and the files it names. kInvalidArgument: `parsing YAML file <path>: line N: ...`;
// kNotFound etc. when a file cannot be read. Relative paths in the file are relative to its folder.
absl::StatusOr<Config> LoadConfig(const std::string& path, const ConfigDefaults& defaults,
                                  base::Fs* fs);

// The configuration with all defaults as YAML, secrets as <secret>.
std::string ConfigYaml(const Config& config);

}  // namespace narthex::server
