#include "scrape/failure_log.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "narthex/base/status.h"

namespace narthex::scrape {
namespace {

void AppendJsonString(std::string* out, std::string_view text) {
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (static_cast<uint8_t>(c) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      out->append(escape.data());
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

std::string TimeText(int64_t time_ms) {
  const std::time_t seconds = time_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  const size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(time_ms % 1000));
  return std::string(text.data(), size) + fraction.data();
}

}  // namespace

absl::Status FailureLog::Open() {
  base::MutexLock lock(&mutex_);
  file_.reset();
  absl::StatusOr<std::unique_ptr<base::WritableFile>> file = fs_->OpenForAppend(path_);
  if (!file.ok()) return base::WithContext(file.status(), "scrape failure log");
  file_ = *std::move(file);
  return absl::OkStatus();
}

void FailureLog::Write(int64_t time_ms, std::string_view job, std::string_view target,
                       std::string_view error) {
  std::string line = base::StrCat(R"({"time":")", TimeText(time_ms), R"(","level":"ERROR","msg":)");
  AppendJsonString(&line, error);
  line += R"(,"job_name":)";
  AppendJsonString(&line, job);
  line += R"(,"target":)";
  AppendJsonString(&line, target);
  line += "}\n";
  base::MutexLock lock(&mutex_);
  if (file_ == nullptr) return;
  if (!file_->Append(line).ok()) file_.reset();
}

}  // namespace narthex::scrape
