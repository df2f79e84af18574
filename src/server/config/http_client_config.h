// The HTTP client keys that many sections of the configuration share.
#pragma once

#include "narthex/net/http_client.h"
#include "server/config/yaml_map.h"

namespace narthex::server {

// Reads the keys out of `*map` (basic_auth, authorization, oauth2, tls_config, proxy_url, ...) into
// `*options`, whose values on entry are the defaults. Errors are left in `*map`.
void DecodeHttpClient(YamlMap* map, net::HttpClientOptions* options);

}  // namespace narthex::server
