// Arithmetic and comparison between two instant vectors. Which series pair up is planned on labels;
// samples are then computed pair by pair. Thread-compatible.
//
// A signature's "one" side may have several series, as long as no two have a point at one step;
// the same holds for both sides of a one-to-one match.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "promql/exec/arithmetic.h"
#include "promql/exec/matching.h"
#include "promql/exec/operator.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

class VectorBinaryOperator final : public Operator {
 public:
  // `binary` must outlive this.
  VectorBinaryOperator(QueryContext* context, OperatorPtr left, OperatorPtr right,
                       const Binary* binary);
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  static constexpr uint32_t kFill = UINT32_MAX;  // Instead of a series: the fill value.
  static constexpr uint32_t kNobody = UINT32_MAX;

  // A possible match.
  struct Pair {
    uint32_t many;
    uint32_t one;
    uint32_t signature;
  };

  void PlanPairs(const std::vector<uint32_t>& many, const std::vector<uint32_t>& one);
  void LabelPairs(const std::vector<Pair>& pairs);
  void ExpectColumns();

  absl::Status ReadPair(const Pair& pair, Column* out);
  absl::Status ComputePair(const Pair& pair, const Column* many, const Column* one, Column* out);
  absl::Status ComputeStep(const Pair& pair, size_t step, const Column* many, const Column* one,
                           Column* out);
  absl::Status MarkMatched(const Pair& pair, size_t step);
  bool ComputeDense(const Column& many, const Column& one, Column* out) const;

  // Checks that series of the one side with one signature never meet: an error also where nothing
  // matches them, and what keeps the number of pairs sane. Their columns stay until
  // ReleaseRivals().
  absl::Status CheckRivals();
  absl::Status CheckOneSide(uint32_t signature);
  void ReleaseRivals();
  absl::Status CheckNumPairs();
  // At which steps any of `members` has a point.
  absl::Status NotePresence(ColumnCache* cache, std::span<const uint32_t> members,
                            std::vector<bool>* present);
  absl::Status DuplicateError(uint32_t first, uint32_t second) const;

  const OperatorPtr left_, right_;
  const Binary& binary_;
  const bool swapped_;  // group_right: the many side is the right one.
  Operator& many_side_;
  Operator& one_side_;
  ColumnCache many_columns_, one_columns_;
  Signatures signatures_;
  const ResultLabels result_labels_;
  const std::optional<double> fill_many_, fill_one_;

  SignatureLists many_of_, one_of_;
  std::vector<Pair> pairs_;  // By result series.
  std::vector<uint32_t> pair_begins_;
  // Where several pairs compete: who matched at a step. For one-to-one by signature.
  std::vector<std::vector<bool>> matched_steps_;
  // For the result series being read: the signature that matched at a step.
  std::vector<uint32_t> matched_by_;
};

// and, or, unless. Thread-compatible.
class SetOperator final : public Operator {
 public:
  SetOperator(QueryContext* context, OperatorPtr left, OperatorPtr right, const Binary* binary);
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  using Presence = std::vector<bool>;
  absl::Status ReadMember(uint32_t member, Column* out);
  absl::Status ReadLeft(uint32_t left, Column* out);
  absl::Status ReadRight(uint32_t right, Column* out);
  absl::StatusOr<const Presence*> RightPresence(uint32_t signature);

  const OperatorPtr left_, right_;
  const BinaryOp op_;
  Signatures signatures_;
  std::vector<uint32_t> left_signature_, right_signature_;
  SignatureLists left_of_, right_of_;
  std::vector<Presence> presence_;  // Per signature: of the left side for `or`, else of the right.
  std::vector<uint32_t> shown_;     // `and`: the left series that may have a partner.
  std::vector<std::unique_ptr<Column>> early_;  // `or`: left columns read before their turn.
  std::vector<bool> left_read_;
  MergePlan merge_;
  Column scratch_;
};

}  // namespace narthex::promql
