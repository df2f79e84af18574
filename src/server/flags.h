// The command line: Prometheus's flags, with its grammar and its error texts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace narthex::server {

// Values of all flags by name, as text, defaults included (/api/v1/status/flags), with typed
// access. Immutable after parsing.
class Flags {
 public:
  // What the command line asks for besides running.
  enum class Request : uint8_t { kRun, kHelp, kVersion };

  // Parses `args` (without the program's name). kInvalidArgument with the reference's text
  // ("unknown long flag '--x'"). kFailedPrecondition: a flag of the other mode (exit code 3).
  static absl::StatusOr<Flags> Parse(const std::vector<std::string>& args);

  Request request() const { return request_; }
  // REQUIRES for all of these: `name` is a flag of that type.
  const std::string& Text(std::string_view name) const;
  const std::vector<std::string>& List(std::string_view name) const;
  bool Bool(std::string_view name) const;
  int64_t DurationMs(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  uint64_t Bytes(std::string_view name) const;

  // True if the flag was on the command line.
  bool Given(std::string_view name) const { return given_.contains(name); }
  bool HasFeature(std::string_view feature) const { return features_.contains(feature); }
  const std::set<std::string, std::less<>>& features() const { return features_; }

  // Flags and features that were given although they have no effect in this version.
  std::vector<std::string> WithoutEffect() const;

  // Name -> value for display; list flags are comma-joined.
  std::map<std::string, std::string> All() const;

  // The help text that --help prints.
  static std::string Help();

 private:
  Flags() = default;
  absl::Status CheckValues() const;

  Request request_ = Request::kRun;
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::vector<std::string>, std::less<>> lists_;
  std::set<std::string, std::less<>> given_;
  std::set<std::string, std::less<>> features_;
};

}  // namespace narthex::server
