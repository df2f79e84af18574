// relabel_config sections.
#pragma once

#include <string_view>
#include <vector>

#include "narthex/model/relabel.h"
#include "server/config/yaml_map.h"

namespace narthex::server {

// The sections of the list at `key`, each checked. Errors, also that of a null entry, are left in
// `*map`.
std::vector<model::RelabelConfig> DecodeRelabelConfigs(YamlMap* map, std::string_view key,
                                                       std::string_view null_entry_error,
                                                       model::NameValidation validation);

}  // namespace narthex::server
