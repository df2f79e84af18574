#include "server/flags.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>

#include "narthex/base/check.h"
#include "narthex/base/duration.h"
#include "narthex/base/float_text.h"
#include "narthex/base/regex.h"
#include "narthex/base/status.h"
#include "server/flag_table.h"

namespace narthex::server {
namespace {

constexpr int64_t kMaxSamplesPerChunk = 10'000;

const FlagSpec* FindSpec(std::string_view name) {
  for (const FlagSpec& spec : kFlagTable) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

std::vector<std::string> SplitCommas(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (comma != 0) out.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return out;
}

// Replaces every argument "@file" by the lines of the file.
absl::StatusOr<std::vector<std::string>> ExpandFiles(const std::vector<std::string>& args) {
  std::vector<std::string> out;
  for (const std::string& arg : args) {
    if (arg.size() < 2 || arg[0] != '@') {
      out.push_back(arg);
      continue;
    }
    std::ifstream file(arg.substr(1));
    if (!file) return base::InvalidArgument("open ", arg.substr(1), ": no such file");
    for (std::string line; std::getline(file, line);) {
      if (!line.empty()) out.push_back(line);
    }
  }
  return out;
}

// "--a=b" and "--a": the name without dashes and value; empty name for anything else.
std::string_view LongName(std::string_view arg) {
  if (arg.substr(0, 2) != "--" || arg.size() == 2) return {};
  return arg.substr(2, arg.find('=') - 2);
}

// The grammar's own rules, which the flag library words differently: unknown flags, booleans with
// values, repeated flags, missing values, stray arguments.
absl::Status CheckGrammar(const std::vector<std::string>& args) {
  std::set<std::string> seen;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "-h") continue;
    const std::string_view name = LongName(arg);
    if (name.empty()) {
      if (arg.size() > 1 && arg[0] == '-' && arg != "--") {
        return base::InvalidArgument("unknown short flag '", arg.substr(0, 2), "'");
      }
      return base::InvalidArgument("unexpected argument '", arg, "'");
    }
    if (name == "help" || name == "help-long" || name == "version") continue;
    const bool has_value = arg.find('=') != std::string::npos;
    const FlagSpec* spec = FindSpec(name);
    const FlagSpec* negated = name.substr(0, 3) == "no-" ? FindSpec(name.substr(3)) : nullptr;
    if (spec == nullptr && negated != nullptr && negated->type == kBool) spec = negated;
    if (spec == nullptr) return base::InvalidArgument("unknown long flag '--", name, "'");
    if (spec->type != kList && !seen.emplace(spec->name).second) {
      return base::InvalidArgument("flag '", spec->name, "' cannot be repeated");
    }
    if (spec->type == kBool) {
      if (has_value) {
        return base::InvalidArgument("unexpected argument '", arg.substr(arg.find('=') + 1), "'");
      }
    } else if (!has_value && ++i == args.size()) {
      return base::InvalidArgument("expected argument for flag '--", name, "'");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckValue(const FlagSpec& spec, const std::string& value) {
  if (value.empty()) return absl::OkStatus();
  switch (spec.type) {
    case kDuration:
      return base::ParseDurationMs(value).status();
    case kGoDuration:
      return base::ParseGoDurationMs(value).status();
    case kBytes:
      return base::ParseSizeBytes(value).status();
    case kInt: {
      const auto number = base::ParseFloat(value);
      if (!number || *number != std::floor(*number) || std::abs(*number) > 9e15) {
        return base::InvalidArgument("expected an integer but got \"", value, "\"");
      }
      return absl::OkStatus();
    }
    case kFloat:
      if (!base::ParseFloat(value)) {
        return base::InvalidArgument("expected a number but got \"", value, "\"");
      }
      return absl::OkStatus();
    case kText:
    case kList:
    case kBool:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Flags> Flags::Parse(const std::vector<std::string>& raw_args) {
  NX_ASSIGN_OR_RETURN(const std::vector<std::string> args, ExpandFiles(raw_args));
  Flags flags;
  for (const std::string& arg : args) {
    if (arg == "--version") flags.request_ = Request::kVersion;
    if (arg == "--help" || arg == "-h" || arg == "--help-long") flags.request_ = Request::kHelp;
  }
  if (flags.request_ != Request::kRun) return flags;
  NX_RETURN_IF_ERROR(CheckGrammar(args));

  CLI::App app;
  app.set_help_flag();
  std::map<std::string, bool> bools;
  for (const FlagSpec& spec : kFlagTable) {
    const std::string name(spec.name);
    if (spec.type == kBool) {
      bools[name] = spec.default_value == "true";
      app.add_flag(base::StrCat("--", name, ",!--no-", name), bools[name]);
    } else if (spec.type == kList) {
      app.add_option("--" + name, flags.lists_[name])->take_all()->expected(1, 1 << 20);
    } else {
      flags.values_[name] = spec.default_value;
      app.add_option("--" + name, flags.values_[name])->expected(0, 1);
    }
  }
  try {
    // The library takes arguments in reverse order; "--a b" is joined so that values may begin with
    // a dash.
    std::vector<std::string> joined;
    for (size_t i = 0; i < args.size(); ++i) {
      const FlagSpec* spec = FindSpec(LongName(args[i]));
      const bool takes_next =
          spec != nullptr && spec->type != kBool && args[i].find('=') == std::string::npos;
      joined.push_back(takes_next ? base::StrCat(args[i], "=", args[i + 1]) : args[i]);
      if (takes_next) ++i;
    }
    for (const std::string& arg : joined) {
      const std::string_view name = LongName(arg);
      flags.given_.emplace(FindSpec(name) == nullptr ? name.substr(3) : name);
    }
    std::reverse(joined.begin(), joined.end());
    app.parse(joined);
  } catch (const CLI::ParseError& error) {
    return base::InvalidArgument(error.what());
  }
  for (const auto& [name, value] : bools) flags.values_[name] = value ? "true" : "false";
  for (auto& [name, list] : flags.lists_) {
    if (list.empty()) list = SplitCommas(FindSpec(name)->default_value);
  }
  for (const std::string& entry : flags.lists_["enable-feature"]) {
    for (const std::string& feature : SplitCommas(entry)) flags.features_.insert(feature);
  }
  NX_RETURN_IF_ERROR(flags.CheckValues());
  return flags;
}

absl::Status Flags::CheckValues() const {
  for (const FlagSpec& spec : kFlagTable) {
    if (spec.type == kList) continue;
    const absl::Status status = CheckValue(spec, Text(spec.name));
    if (!status.ok()) return base::WithContext(status, base::StrCat("flag '", spec.name, "'"));
  }
  for (const FlagSpec& spec : kFlagTable) {
    const bool wrong = Bool("agent") ? spec.mode == kServer : spec.mode == kAgent;
    if (wrong && Given(spec.name)) {
      return base::FailedPrecondition(
          "The following flag(s) can ",
          Bool("agent") ? "not be used in agent mode" : "only be used in agent mode", ": [\"--",
          spec.name, "\"]");
    }
  }
  if (Bool("agent")) return base::InvalidArgument("agent mode is not part of this version");
  const auto one_of = [this](std::string_view name, const std::set<std::string_view>& allowed) {
    if (allowed.contains(Text(name))) return absl::OkStatus();
    std::string list;
    for (const std::string_view value : allowed)
      base::StrAppend(&list, list.empty() ? "" : ",", value);
    return base::InvalidArgument("enum value must be one of ", list, ", got '", Text(name), "'");
  };
  NX_RETURN_IF_ERROR(one_of("log.level", {"debug", "info", "warn", "error"}));
  NX_RETURN_IF_ERROR(one_of("log.format", {"logfmt", "json"}));
  NX_RETURN_IF_ERROR(one_of("storage.tsdb.wal-compression-type", {"snappy", "zstd"}));
  for (const std::string_view name : {"query.max-concurrency", "web.max-connections",
                                      "storage.tsdb.samples-per-chunk", "query.max-samples"}) {
    if (Int(name) <= 0) return base::InvalidArgument("flag '", name, "' must be above 0");
  }
  if (Int("storage.tsdb.samples-per-chunk") > kMaxSamplesPerChunk) {
    return base::InvalidArgument("flag 'storage.tsdb.samples-per-chunk' must be at most ",
                                 kMaxSamplesPerChunk);
  }
  const uint64_t segment_bytes = Bytes("storage.tsdb.wal-segment-size");
  if (segment_bytes < (10u << 20) || segment_bytes > (256u << 20)) {
    return base::InvalidArgument(
        "flag 'storage.tsdb.wal-segment-size' must be set between 10MB and 256MB");
  }
  if (DurationMs("storage.tsdb.min-block-duration") <= 0) {
    return base::InvalidArgument("flag 'storage.tsdb.min-block-duration' must be above 0");
  }
  return base::WithContext(base::Regex::CompileAnchored(Text("web.cors.origin")).status(),
                           "could not compile CORS regex string");
}

const std::string& Flags::Text(std::string_view name) const {
  const auto found = values_.find(name);
  NX_CHECK(found != values_.end());
  return found->second;
}

const std::vector<std::string>& Flags::List(std::string_view name) const {
  const auto found = lists_.find(name);
  NX_CHECK(found != lists_.end());
  return found->second;
}

bool Flags::Bool(std::string_view name) const { return Text(name) == "true"; }

int64_t Flags::DurationMs(std::string_view name) const {
  const FlagSpec* spec = FindSpec(name);
  NX_CHECK(spec != nullptr);
  const std::string& text = Text(name);
  if (text.empty()) return 0;
  return spec->type == kGoDuration ? base::ParseGoDurationMs(text).value()
                                   : base::ParseDurationMs(text).value();
}

int64_t Flags::Int(std::string_view name) const {
  return static_cast<int64_t>(base::ParseFloat(Text(name)).value_or(0));
}

uint64_t Flags::Bytes(std::string_view name) const {
  const std::string& text = Text(name);
  return text.empty() ? 0 : base::ParseSizeBytes(text).value();
}

std::vector<std::string> Flags::WithoutEffect() const {
  std::vector<std::string> out;
  for (const FlagSpec& spec : kFlagTable) {
    if (spec.effect == kNone && Given(spec.name)) out.push_back(base::StrCat("--", spec.name));
  }
  for (const std::string& feature : features_) {
    for (const FeatureSpec& spec : kFeatureTable) {
      if (spec.name == feature && spec.effect == kNone) {
        out.push_back(base::StrCat("--enable-feature=", feature));
      }
    }
  }
  return out;
}

std::map<std::string, std::string> Flags::All() const {
  std::map<std::string, std::string> out(values_.begin(), values_.end());
  for (const auto& [name, list] : lists_) {
    std::string joined;
    for (const std::string& value : list)
      base::StrAppend(&joined, joined.empty() ? "" : ",", value);
    out[name] = joined;
  }
  return out;
}

std::string Flags::Help() {
  std::string out =
      "usage: narthex [<flags>]\n       narthex tool <command> ...\n\n"
      "The Narthex monitoring server\n\n\nFlags:\n"
      "  -h, --[no-]help  Show this help.\n"
      "      --[no-]version  Show the version.\n";
  for (const FlagSpec& spec : kFlagTable) {
    if (spec.hidden) continue;
    base::StrAppend(&out, "      --", spec.type == kBool ? "[no-]" : "", spec.name);
    if (spec.type != kBool) {
      base::StrAppend(&out, "=", spec.default_value.empty() ? "\"\"" : spec.default_value);
    }
    base::StrAppend(&out, "\n            ", spec.help,
                    spec.effect == kNone ? " (No effect in this version.)" : "", "\n");
  }
  return out;
}

}  // namespace narthex::server
