// What the scraper knows: /api/v1/targets, /scrape_pools, /targets/metadata, /metadata.
// Thread-safe, free functions.
#pragma once

#include "narthex/scrape/manager.h"
#include "server/api/envelope.h"
#include "server/api/params.h"

namespace narthex::server {

// `external_url` (scheme://host:port) replaces loopback hosts in a target's globalUrl.
void HandleTargets(const Params& params, const scrape::Manager& manager,
                   std::string_view external_url, Writer writer);
void HandleScrapePools(const scrape::Manager& manager, Writer writer);
void HandleTargetMetadata(const Params& params, const scrape::Manager& manager, Writer writer);
void HandleMetadata(const Params& params, const scrape::Manager& manager, Writer writer);

}  // namespace narthex::server
