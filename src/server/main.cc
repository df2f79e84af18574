// The process: flags in, exit code out.

#include <cstdio>
#include <string>
#include <vector>

#include "narthex/base/fs.h"
#include "narthex/base/status.h"
#include "narthex/tool/tool.h"
#include "server/build_info.h"
#include "server/flag_table.h"
#include "server/server.h"

namespace narthex::server {
namespace {

constexpr int kExitFailure = 1;
constexpr int kExitBadFlags = 2;
constexpr int kExitWrongMode = 3;

void Print(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

int FlagError(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kFailedPrecondition) {
    Print(stderr, base::StrCat(base::Message(status), "\n"));
    return kExitWrongMode;
  }
  Print(stderr,
        base::StrCat("Error parsing command line arguments: ", base::Message(status), "\n"));
  Print(stdout, Flags::Help());
  return kExitBadFlags;
}

base::LogLevel LevelOf(std::string_view name) {
  if (name == "debug") return base::LogLevel::kDebug;
  if (name == "warn") return base::LogLevel::kWarn;
  return name == "error" ? base::LogLevel::kError : base::LogLevel::kInfo;
}

// Says what was asked for and will not happen.
void WarnOfFlags(const Flags& flags, const base::Logger& logger) {
  for (const std::string& flag : flags.WithoutEffect()) {
    logger.Warn("flag has no effect in this version", {{"flag", flag}});
  }
  for (const std::string& feature : flags.features()) {
    bool known = false;
    for (const FeatureSpec& spec : kFeatureTable) known |= spec.name == feature;
    if (!known) logger.Warn("Unknown option for --enable-feature", {{"option", feature}});
  }
}

int Serve(const Flags& flags) {
  Lifecycle lifecycle;
  const auto logger = base::MakeStderrLogger(
      LevelOf(flags.Text("log.level")),
      flags.Text("log.format") == "json" ? base::LogFormat::kJson : base::LogFormat::kLogfmt);
  auto config = LoadConfig(flags.Text("config.file"), DefaultsOf(flags), &base::PosixFs());
  if (!config.ok()) {
    logger->Error("Error loading config",
                  {{"file", flags.Text("config.file")}, {"err", base::Message(config.status())}});
    return kExitFailure;
  }
  logger->Info("Starting Narthex Server",
               {{"version", kNarthexVersion}, {"compatible", kCompatibleVersion}});
  WarnOfFlags(flags, *logger);
  auto server = Server::Start(&flags, *std::move(config), logger.get(), &lifecycle);
  absl::Status status = server.status();
  if (status.ok()) status = (*server)->Run();
  if (status.ok()) return 0;
  logger->Error("Error running the server", {{"err", base::Message(status)}});
  return kExitFailure;
}

int Main(const std::vector<std::string>& args) {
  if (!args.empty() && args[0] == "tool") return tool::RunTool({args.begin() + 1, args.end()});
  const auto flags = Flags::Parse(args);
  if (!flags.ok()) return FlagError(flags.status());
  switch (flags->request()) {
    case Flags::Request::kHelp:
      Print(stdout, Flags::Help());
      return 0;
    case Flags::Request::kVersion:
      Print(stdout, VersionText());
      return 0;
    case Flags::Request::kRun:
      return Serve(*flags);
  }
  return 0;
}

}  // namespace
}  // namespace narthex::server

int main(int argc, char** argv) {
  try {
    return narthex::server::Main({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "narthex: %s\n", error.what());
    return 1;
  }
}
