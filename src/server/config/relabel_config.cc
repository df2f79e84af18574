#include "server/config/relabel_config.h"

namespace narthex::server {

std::vector<model::RelabelConfig> DecodeRelabelConfigs(YamlMap* map, std::string_view key,
                                                       std::string_view null_entry_error,
                                                       model::NameValidation validation) {
  std::vector<model::RelabelConfig> configs;
  for (const base::YamlNode* node : map->List(key, null_entry_error)) {
    YamlMap entry(*node, "relabel_config");
    model::RelabelConfig config;
    entry.Strings("source_labels", &config.source_labels);
    entry.String("separator", &config.separator);
    entry.String("regex", &config.regex);
    entry.Unsigned("modulus", &config.modulus);
    entry.String("target_label", &config.target_label);
    entry.String("replacement", &config.replacement);
    entry.String("action", &config.action);
    if (const absl::Status status = entry.Finish(); !status.ok()) {
      map->Adopt(status);
      continue;
    }
    map->Check(model::RelabelRule::Create(config, validation).status(), node->line);
    configs.push_back(std::move(config));
  }
  return configs;
}

}  // namespace narthex::server
