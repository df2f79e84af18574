// The head's model::Appender: checks samples against their series, collects them, and commits them
// through the Committer. Thread-compatible.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "head/committer.h"
#include "head/head_core.h"
#include "narthex/model/appendable.h"

namespace narthex::head {

class HeadAppender final : public model::Appender {
 public:
  // All must outlive the appender.
  HeadAppender(HeadCore* core, Committer* committer, HeadMetrics* metrics);
  ~HeadAppender() override;

  absl::StatusOr<model::SeriesRef> Resolve(std::span<const model::Label> labels) override;
  void AppendFloats(std::span<const model::FloatSample> samples,
                    std::span<model::AppendOutcome> outcomes) override;
  model::AppendOutcome AppendHistogram(model::SeriesRef ref, int64_t time_ms,
                                       const model::Histogram& histogram) override;
  model::AppendOutcome AppendHistogram(model::SeriesRef ref, int64_t time_ms,
                                       const model::FloatHistogram& histogram) override;
  absl::Status AppendExemplar(model::SeriesRef ref, const model::Exemplar& exemplar) override;
  void SetMetadata(model::SeriesRef ref, const model::Metadata& metadata) override;
  absl::Status Commit() override;
  void Rollback() override;

 private:
  // What a series holds in the newest batch; as the log's records are told apart.
  enum class Type : uint8_t {
    kFloat,
    kHistogram,
    kCustomHistogram,
    kFloatHistogram,
    kCustomFloatHistogram
  };

  // Takes the stripe lock of the series of `ref`, which then stays while this appender is open.
  // False: no such series.
  bool Hold(StripeHolder* stripe, model::SeriesRef ref, SeriesIndex* index);
  AppendBounds Bounds(int64_t time_ms);
  // The batch that takes a sample of the type, begun if the newest does not.
  SampleBatch* BatchFor(SeriesIndex series, Type type);
  model::AppendOutcome AppendOneFloat(StripeHolder* stripe, const model::FloatSample& sample);
  template <typename H>
  model::AppendOutcome Append(model::SeriesRef ref, int64_t time_ms, const H& histogram);
  template <typename H>
  void Add(SeriesIndex series, int64_t time_ms, H histogram);
  template <typename H>
  void AddStale(SeriesIndex series, int64_t time_ms);
  // REQUIRES: the stripe lock of the series.
  void NoteUnlogged(SeriesIndex index);
  void EncodeRecords();
  void EncodeNewSeries();
  void Finish();

  HeadCore* const core_;
  Committer* const committer_;
  HeadMetrics* const metrics_;
  const uint64_t epoch_;
  CommitRequest request_;
  bool has_bounds_ = false;
  AppendBounds bounds_;
  std::unordered_map<SeriesIndex, Type> histograms_in_batch_;
  bool finished_ = false;
};

}  // namespace narthex::head
