// Decodes a YAML map key by key into typed values, remembering the first error with its line and
// refusing keys that nobody asked for. Thread-compatible; lives as long as the node it reads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "narthex/base/yaml.h"

namespace narthex::server {

class YamlMap {
 public:
  // `section` names the map in error texts ("scrape_config"). A null node is an empty map.
  YamlMap(const base::YamlNode& node, std::string_view section);

  // Each reads `key` into `*out` if it is there and not null; `*out` keeps its value otherwise.
  // True if it was set.
  bool String(std::string_view key, std::string* out);
  bool Bool(std::string_view key, bool* out);
  bool Unsigned(std::string_view key, uint64_t* out);
  bool Signed(std::string_view key, int64_t* out);
  bool Double(std::string_view key, double* out);
  bool DurationMs(std::string_view key, int64_t* out);
  bool SizeBytes(std::string_view key, uint64_t* out);
  bool Strings(std::string_view key, std::vector<std::string>* out);
  bool StringMap(std::string_view key, std::map<std::string, std::string>* out);
  bool StringListMap(std::string_view key, std::map<std::string, std::vector<std::string>>* out);

  // The node of `key` (null if absent or YAML null), marked as known.
  const base::YamlNode* Node(std::string_view key);
  // The items of a list; empty if absent. A null item is reported as `null_item_error`.
  std::vector<const base::YamlNode*> List(std::string_view key, std::string_view null_item_error);
  // True if `key` stands in the map, even with a null value.
  bool Has(std::string_view key) const { return node_.Find(key) != nullptr; }

  // Remembers an error; only the first counts. "line N: text".
  void Error(int line, std::string_view text);
  // Takes over a status that carries no line.
  void Check(const absl::Status& status, int line);

  int line() const { return node_.line; }  // Of the map itself.
  // Takes over an error that already carries its line.
  void Adopt(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }

  // The first error, or that of the first unknown key.
  absl::Status Finish();

 private:
  const base::YamlNode* Scalar(std::string_view key, std::string_view want);

  const base::YamlNode& node_;
  const std::string section_;
  std::set<std::string, std::less<>> known_;
  absl::Status status_;
};

// A list of scalars as texts. kInvalidArgument with the line of a wrong item.
absl::StatusOr<std::vector<std::string>> YamlStrings(const base::YamlNode& node);

}  // namespace narthex::server
