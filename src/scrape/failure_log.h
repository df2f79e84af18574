// A file with one JSON line per failed scrape. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "narthex/base/fs.h"
#include "narthex/base/mutex.h"

namespace narthex::scrape {

class FailureLog {
 public:
  // `fs` must outlive this.
  FailureLog(base::Fs* fs, std::string path) : fs_(fs), path_(std::move(path)) {}

  // Opens the file anew, as log rotation needs it on every reload.
  absl::Status Open();
  // A line is lost when the file cannot be written; the next Open() tries again.
  void Write(int64_t time_ms, std::string_view job, std::string_view target,
             std::string_view error);

 private:
  base::Fs* const fs_;
  const std::string path_;
  base::Mutex mutex_;
  std::unique_ptr<base::WritableFile> file_ NX_GUARDED_BY(mutex_);
};

}  // namespace narthex::scrape
