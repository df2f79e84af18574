#include "narthex/base/log.h"

#include <unistd.h>

#include <cerrno>

#include "base/log_line.h"

namespace narthex::base {
namespace {

class StderrLogger final : public Logger {
 public:
  StderrLogger(LogLevel level, LogFormat format, const Clock* clock)
      : level_(level), format_(format), clock_(clock) {}

  bool Enabled(LogLevel level) const override { return level >= level_; }

  void Log(LogLevel level, std::string_view message,
           std::initializer_list<LogField> fields) const override {
    const std::string line = FormatLogLine(format_, clock_->NowMs(), level, message, fields);
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t num_written = ::write(STDERR_FILENO, rest.data(), rest.size());
      if (num_written < 0 && errno == EINTR) continue;
      if (num_written <= 0) return;  // There is nowhere to report it.
      rest.remove_prefix(static_cast<size_t>(num_written));
    }
  }

 private:
  const LogLevel level_;
  const LogFormat format_;
  const Clock* const clock_;
};

class SilentLogger final : public Logger {
 public:
  bool Enabled(LogLevel /*level*/) const override { return false; }
  void Log(LogLevel /*level*/, std::string_view /*message*/,
           std::initializer_list<LogField> /*fields*/) const override {}
};

}  // namespace

std::unique_ptr<Logger> MakeStderrLogger(LogLevel level, LogFormat format, const Clock* clock) {
  return std::make_unique<StderrLogger>(level, format, clock);
}

const Logger& NullLogger() {
  static const SilentLogger logger;
  return logger;
}

}  // namespace narthex::base
