#include "head/committer.h"

#include <algorithm>

#include "narthex/base/status.h"

namespace narthex::head {

absl::Status Committer::Commit(CommitRequest* request) {
  std::vector<CommitRequest*> group;
  mutex_.Lock();
  if (closed_) {
    mutex_.Unlock();
    return base::FailedPrecondition("head: closed");
  }
  waiting_.push_back(request);
  while (!request->done) {
    if (leading_) {
      changed_.Wait(&mutex_);
      continue;
    }
    // Nobody leads: take whoever has waited longest, this batch included if it is among them.
    leading_ = true;
    const auto size = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kMaxGroup));
    group.assign(waiting_.begin(), waiting_.begin() + size);
    waiting_.erase(waiting_.begin(), waiting_.begin() + size);
    mutex_.Unlock();
    Lead(group);
    mutex_.Lock();
    leading_ = false;
    for (CommitRequest* const one : group) one->done = true;
    changed_.NotifyAll();
  }
  mutex_.Unlock();
  return request->status;
}

void Committer::Lead(const std::vector<CommitRequest*>& group) {
  absl::Status logged;
  if (sink_ != nullptr) {
    std::vector<std::string_view> records;
    for (const CommitRequest* const request : group) {
      records.insert(records.end(), request->records.begin(), request->records.end());
    }
    if (!records.empty()) logged = sink_->Log(records);
  }
  for (CommitRequest* const request : group) {
    request->status = logged;
    if (!logged.ok()) continue;
    base::MutexLock lock(&apply_mutex_);
    core_->BeginCommit();
    for (const SeriesIndex series : request->logged) {
      base::MutexLock stripe(core_->StripeOf(series));
      core_->MarkLogged(series);
    }
    for (SampleBatch& batch : request->batches) core_->Apply(&batch);
    core_->EndCommit();
    for (const PendingMetadata& metadata : request->metadata) core_->SetMetadata(metadata);
  }
}

absl::Status Committer::Close() {
  {
    base::MutexLock lock(&mutex_);
    if (closed_) return absl::OkStatus();
    closed_ = true;
    while (leading_ || !waiting_.empty()) changed_.Wait(&mutex_);
  }
  return sink_ == nullptr ? absl::OkStatus() : sink_->Close();
}

}  // namespace narthex::head
