// What discovery finds: groups of targets that share labels. Plain values.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace narthex::scrape {

using LabelMap = std::map<std::string, std::string>;

struct TargetGroup {
  // Names the group within its provider; a later group of the same source replaces it.
  std::string source;
  LabelMap labels;                // Of every target; a target's own labels win.
  std::vector<LabelMap> targets;  // `__address__` and more.
  bool operator==(const TargetGroup&) const = default;
};

}  // namespace narthex::scrape
