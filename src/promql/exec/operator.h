// The tree a query is evaluated by. An operator first learns all its series (labels only: grouping,
// matching and checks happen there, once, on integers), then computes them one by one as columns
// over its step grid. No operator holds more columns than its meaning demands.
// Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "promql/exec/column.h"
#include "promql/exec/context.h"
#include "promql/exec/series_list.h"

namespace narthex::promql {

class Operator {
 public:
  // `context` must outlive this.
  Operator(QueryContext* context, const StepGrid& grid) : context_(context), grid_(grid) {}
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  // Finds the series. Call it once, before anything else. A series may turn out to have no points;
  // label sets are distinct, except under delayed name removal, where series that will lose their
  // name may be equal but for it. A scalar is one series without labels and with a float at
  // every step.
  virtual absl::Status Prepare() = 0;

  // Computes series `index` into `*out`, whatever it held. Each series at most once, in any order,
  // ascending preferred. kFailedPrecondition: the query cannot be answered, with Prometheus's text.
  virtual absl::Status Read(size_t index, Column* out) = 0;

  // Valid after Prepare(), as long as the operator. Also the order of an instant query's result.
  const SeriesList& series() const { return *series_; }
  const StepGrid& grid() const { return grid_; }

 protected:
  QueryContext& context() const { return *context_; }
  // In Prepare(): either own series, or those of an input that outlives this.
  SeriesList* OwnSeries() {
    series_ = &own_series_;
    return &own_series_;
  }
  void ShareSeries(const SeriesList& series) { series_ = &series; }

 private:
  QueryContext* const context_;
  const StepGrid grid_;
  const SeriesList* series_ = &own_series_;
  SeriesList own_series_;
};
using OperatorPtr = std::unique_ptr<Operator>;

// Prepares `scalar` and reads its only series.
absl::Status ReadScalar(Operator* scalar, Column* out);

// Which series become one because their labels are equal.
struct MergePlan {
  SeriesList series;              // Distinct.
  std::vector<uint32_t> begins;   // Per distinct series, and an end: into `members`.
  std::vector<uint32_t> members;  // Indices of the list before; both empty if all were distinct.
  bool trivial() const { return members.empty(); }
};
MergePlan PlanMerge(SeriesList series);

// When series with equal labels are an error.
enum class Clash : uint8_t {
  kSameStep,   // Both have a point at one step.
  kAnyPoints,  // Both have points.
};
absl::Status ClashError();
// Adds the points of `from`.
absl::Status MergeInto(const Column& from, Clash clash, Column* into);

// An operator with one input that treats series one by one.
class MapOperator : public Operator {
 public:
  absl::Status Prepare() final;
  absl::Status Read(size_t index, Column* out) final;

 protected:
  enum class LabelChange : uint8_t {
    kNone,
    kDropMetadata,  // Now, or marked to go at the end under delayed name removal.
    kDropName,      // As kDropMetadata, but __name__ only.
    kMap,           // MapLabels()
  };
  MapOperator(QueryContext* context, OperatorPtr input, LabelChange change,
              Clash clash = Clash::kSameStep)
      : Operator(context, input->grid()),
        input_(std::move(input)),
        change_(change),
        clash_(clash) {}

  // What is needed before any series is read; the input's series are known.
  virtual absl::Status Begin() { return absl::OkStatus(); }
  // For LabelChange::kMap: the new labels into `*out`, which holds the old ones; whether the name
  // goes at the end is in `*drop_name`.
  virtual absl::Status MapLabels(std::vector<model::SymbolLabel>* out, bool* drop_name);
  // Computes the points of input series `index` in place.
  virtual absl::Status Transform(size_t index, Column* column) = 0;

  Operator& input() const { return *input_; }

 private:
  absl::Status MapAllLabels(SeriesList* mapped);

  const OperatorPtr input_;
  const LabelChange change_;
  const Clash clash_;
  MergePlan merge_;
  Column scratch_;
};

// Gives what its input says at its only step at every step.
class StepInvariantOperator final : public Operator {
 public:
  // REQUIRES: input's grid has at most one step and begins where `grid` does.
  StepInvariantOperator(QueryContext* context, const StepGrid& grid, OperatorPtr input)
      : Operator(context, grid), input_(std::move(input)) {}
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  const OperatorPtr input_;
  Column once_;
};

// Drops the names marked to go, at the very end of a query with delayed name removal.
class NameRemoval final : public MapOperator {
 public:
  NameRemoval(QueryContext* context, OperatorPtr input)
      : MapOperator(context, std::move(input), LabelChange::kMap) {}

 private:
  absl::Status MapLabels(std::vector<model::SymbolLabel>* out, bool* drop_name) override;
  absl::Status Transform(size_t, Column*) override { return absl::OkStatus(); }
};

// Columns of an operator that several series of another one need: read once, kept until the last
// use. Thread-compatible.
class ColumnCache {
 public:
  ColumnCache(QueryContext* context, Operator* source) : context_(context), source_(source) {}
  ~ColumnCache();
  // Announces one use of series `index`; all announcements come before the first Get().
  void Expect(size_t index);
  // The column; valid until the matching Release().
  absl::StatusOr<const Column*> Get(size_t index);
  void Release(size_t index);

 private:
  struct Entry {
    uint32_t uses = 0;
    std::unique_ptr<Column> column;
    uint64_t samples = 0, bytes = 0;
  };
  void Drop(Entry* entry);

  QueryContext* const context_;
  Operator* const source_;
  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<Column>> free_;
};

}  // namespace narthex::promql
