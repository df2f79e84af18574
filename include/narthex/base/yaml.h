// YAML documents as a plain tree with line numbers. Aliases and merge keys are resolved, duplicate
// keys refused. Immutable values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace narthex::base {

struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  int line = 0;                 // From 1.
  bool quoted = false;          // A quoted scalar: a string whatever it looks like.
  std::string text;             // kScalar
  std::vector<YamlNode> items;  // kList
  std::vector<std::pair<std::string, YamlNode>> pairs;  // kMap, in order of appearance.

  // The value of a map's key, null if absent. Valid as long as this node.
  const YamlNode* Find(std::string_view key) const;
};

// The first document of `text` (kNull if it is empty). kInvalidArgument: "line N: reason". Bounded:
// 100 levels and, aliases multiplied out, a million nodes.
absl::StatusOr<YamlNode> ParseYaml(const std::string& text);

}  // namespace narthex::base
