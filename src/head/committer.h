// Commits batches, many at once: whoever finds nobody at work leads, logs all waiting batches with
// one write, applies them in the log's order, and wakes their owners. So the log has one writer at
// a time, commits become visible in the order they stand in the log, and a lone commit needs no
// switch of threads. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "head/head_core.h"
#include "head/record_sink.h"
#include "narthex/base/mutex.h"

namespace narthex::head {

// One appender's batch. Belongs to Commit() while that runs.
struct CommitRequest {
  std::vector<std::string> records;  // As logged, in order.
  std::vector<SeriesIndex> logged;   // Series whose records are among them.
  std::vector<SampleBatch> batches;
  std::vector<PendingMetadata> metadata;

  absl::Status status;
  bool done = false;
};

class Committer {
 public:
  explicit Committer(HeadCore* core) : core_(core) {}

  // Null: nothing is logged. REQUIRES: no commit runs.
  void SetSink(std::unique_ptr<RecordSink> sink) { sink_ = std::move(sink); }
  bool has_sink() const { return sink_ != nullptr; }

  // Logs and applies. On error nothing of the batch is visible.
  absl::Status Commit(CommitRequest* request);
  // Later commits fail with kFailedPrecondition. Idempotent.
  absl::Status Close();

  // Held while batches are applied; for looking at tables that only commits change.
  base::Mutex* apply_mutex() { return &apply_mutex_; }

 private:
  // Most batches that go into one write: bounds how long the first waits for the last.
  static constexpr size_t kMaxGroup = 64;

  void Lead(const std::vector<CommitRequest*>& group);

  HeadCore* const core_;
  std::unique_ptr<RecordSink> sink_;  // Used by the leader.
  base::Mutex apply_mutex_;

  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<CommitRequest*> waiting_ NX_GUARDED_BY(mutex_);
  bool leading_ NX_GUARDED_BY(mutex_) = false;
  bool closed_ NX_GUARDED_BY(mutex_) = false;
};

}  // namespace narthex::head
