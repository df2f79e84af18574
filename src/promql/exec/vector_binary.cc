#include "promql/exec/vector_binary.h"

#include <algorithm>
#include <utility>

#include "narthex/base/status.h"

namespace narthex::promql {

using model::SymbolLabel;

namespace {

bool DropsMetadata(const Binary& binary, bool delayed) {
  return IsArithmetic(binary.op) || (binary.return_bool && !delayed);
}

}  // namespace

VectorBinaryOperator::VectorBinaryOperator(QueryContext* context, OperatorPtr left,
                                           OperatorPtr right, const Binary* binary)
    : Operator(context, left->grid()),
      left_(std::move(left)),
      right_(std::move(right)),
      binary_(*binary),
      swapped_(binary->matching.cardinality == Cardinality::kOneToMany),
      many_side_(swapped_ ? *right_ : *left_),
      one_side_(swapped_ ? *left_ : *right_),
      many_columns_(context, &many_side_),
      one_columns_(context, &one_side_),
      signatures_(context, binary->matching),
      result_labels_(context, binary->matching,
                     DropsMetadata(*binary, context->options.delayed_name_removal)),
      // The modifiers' sides are those of the match, many and one, even where the match is swapped.
      fill_many_(binary->matching.fill_left),
      fill_one_(binary->matching.fill_right) {}

absl::Status VectorBinaryOperator::Prepare() {
  NX_RETURN_IF_ERROR(left_->Prepare());
  NX_RETURN_IF_ERROR(right_->Prepare());
  NX_RETURN_IF_ERROR(context().Tick(1 + left_->series().size() + right_->series().size()));
  const std::vector<uint32_t> many = signatures_.NumberAll(many_side_.series());
  const std::vector<uint32_t> one = signatures_.NumberAll(one_side_.series());
  many_of_ = ListBySignature(many, signatures_.count());
  one_of_ = ListBySignature(one, signatures_.count());
  if (many.empty() && !fill_many_.has_value()) return absl::OkStatus();
  NX_RETURN_IF_ERROR(CheckRivals());
  NX_RETURN_IF_ERROR(CheckNumPairs());
  PlanPairs(many, one);
  ReleaseRivals();
  return absl::OkStatus();
}

absl::Status VectorBinaryOperator::CheckNumPairs() {
  uint64_t num_pairs = 0;
  for (uint32_t signature = 0; signature < signatures_.count(); ++signature) {
    num_pairs += uint64_t{many_of_.of(signature).size() + 1} * (one_of_.of(signature).size() + 1);
  }
  // A pair, its place and the labels of its result.
  return context().budget.Visit(0, num_pairs * (2 * sizeof(Pair) + 64));
}

void VectorBinaryOperator::PlanPairs(const std::vector<uint32_t>& many,
                                     const std::vector<uint32_t>& one) {
  if (binary_.matching.cardinality == Cardinality::kOneToOne) {
    matched_steps_.resize(signatures_.count());
  }
  std::vector<Pair> pairs;
  pairs.reserve(many.size());
  for (uint32_t i = 0; i < many.size(); ++i) {
    const uint32_t signature = many[i];
    for (const uint32_t partner : one_of_.of(signature)) pairs.push_back({i, partner, signature});
    if (fill_one_.has_value()) pairs.push_back({i, kFill, signature});
  }
  if (fill_many_.has_value()) {
    for (uint32_t i = 0; i < one.size(); ++i) pairs.push_back({kFill, i, one[i]});
  }
  LabelPairs(pairs);
  ExpectColumns();
}

// Pairs whose results have the same labels make one result series.
void VectorBinaryOperator::LabelPairs(const std::vector<Pair>& pairs) {
  SeriesList results;
  results.Reserve(pairs.size());
  std::vector<SymbolLabel> labels, match_labels;
  const bool drop_name = binary_.return_bool && context().options.delayed_name_removal;
  for (const Pair& pair : pairs) {
    LabelSpan many, one;
    if (pair.many != kFill) many = many_side_.series().labels(pair.many);
    if (pair.one != kFill) one = one_side_.series().labels(pair.one);
    if (pair.many == kFill || pair.one == kFill) {
      match_labels.clear();
      signatures_.AppendMatchLabels(pair.many == kFill ? one : many, &match_labels);
      (pair.many == kFill ? many : one) = match_labels;
    }
    result_labels_.Compute(many, one, &labels);
    results.Add(labels, drop_name);
  }
  MergePlan plan = PlanMerge(std::move(results));
  if (plan.trivial()) {
    pairs_ = pairs;
    for (uint32_t i = 0; i <= pairs.size(); ++i) pair_begins_.push_back(i);
  } else {
    for (const uint32_t member : plan.members) pairs_.push_back(pairs[member]);
    pair_begins_ = std::move(plan.begins);
  }
  *OwnSeries() = std::move(plan.series);
}

void VectorBinaryOperator::ExpectColumns() {
  for (const Pair& pair : pairs_) {
    if (pair.many != kFill) many_columns_.Expect(pair.many);
    if (pair.one != kFill) one_columns_.Expect(pair.one);
    // To know whether a fill value is due, the missing side's series are looked at.
    if (pair.many == kFill) {
      for (const uint32_t member : many_of_.of(pair.signature)) many_columns_.Expect(member);
    }
    if (pair.one == kFill) {
      for (const uint32_t member : one_of_.of(pair.signature)) one_columns_.Expect(member);
    }
  }
}

absl::Status VectorBinaryOperator::Read(size_t index, Column* out) {
  out->Reset(grid().count);
  NX_RETURN_IF_ERROR(context().Tick(1 + grid().count / 8));
  matched_by_.clear();
  const uint32_t begin = pair_begins_[index];
  const uint32_t end = pair_begins_[index + 1];
  if (end - begin > 1) matched_by_.assign(grid().count, kNobody);
  for (uint32_t i = begin; i < end; ++i) NX_RETURN_IF_ERROR(ReadPair(pairs_[i], out));
  return absl::OkStatus();
}

absl::Status VectorBinaryOperator::CheckRivals() {
  for (uint32_t signature = 0; signature < signatures_.count(); ++signature) {
    const auto members = one_of_.of(signature);
    if (members.size() < 2) continue;
    for (const uint32_t member : members) one_columns_.Expect(member);
  }
  for (uint32_t signature = 0; signature < signatures_.count(); ++signature) {
    NX_RETURN_IF_ERROR(CheckOneSide(signature));
  }
  return absl::OkStatus();
}

void VectorBinaryOperator::ReleaseRivals() {
  for (uint32_t signature = 0; signature < signatures_.count(); ++signature) {
    const auto members = one_of_.of(signature);
    if (members.size() < 2) continue;
    for (const uint32_t member : members) one_columns_.Release(member);
  }
}

absl::Status VectorBinaryOperator::CheckOneSide(uint32_t signature) {
  const auto members = one_of_.of(signature);
  if (members.size() < 2) return absl::OkStatus();
  std::vector<uint32_t> holder(grid().count, kNobody);
  for (const uint32_t member : members) {
    NX_ASSIGN_OR_RETURN(const Column* column, one_columns_.Get(member));
    for (size_t step = 0; step < holder.size(); ++step) {
      if (!column->has(step)) continue;
      if (holder[step] != kNobody) return DuplicateError(member, holder[step]);
      holder[step] = member;
    }
  }
  return absl::OkStatus();
}

absl::Status VectorBinaryOperator::DuplicateError(uint32_t first, uint32_t second) const {
  const SeriesList& series = one_side_.series();
  std::vector<SymbolLabel> group;
  signatures_.AppendMatchLabels(series.labels(first), &group);
  std::string a = LabelsToString(*context().symbols, series.labels(first));
  std::string b = LabelsToString(*context().symbols, series.labels(second));
  if (a > b) std::swap(a, b);
  return base::FailedPrecondition(
      "found duplicate series for the match group ", LabelsToString(*context().symbols, group),
      " on the ", swapped_ ? "left" : "right", " hand-side of the operation: [", a, ", ", b,
      "];many-to-many matching not allowed: matching labels must be unique on one side");
}

absl::Status VectorBinaryOperator::NotePresence(ColumnCache* cache,
                                                std::span<const uint32_t> members,
                                                std::vector<bool>* present) {
  present->assign(grid().count, false);
  for (const uint32_t member : members) {
    NX_ASSIGN_OR_RETURN(const Column* column, cache->Get(member));
    for (size_t step = 0; step < grid().count; ++step) {
      if (column->has(step)) (*present)[step] = true;
    }
    cache->Release(member);
  }
  return absl::OkStatus();
}

absl::Status VectorBinaryOperator::ReadPair(const Pair& pair, Column* out) {
  const Column* many = nullptr;
  const Column* one = nullptr;
  Column filled;
  if (pair.many != kFill) {
    NX_ASSIGN_OR_RETURN(many, many_columns_.Get(pair.many));
  }
  if (pair.one != kFill) {
    NX_ASSIGN_OR_RETURN(one, one_columns_.Get(pair.one));
  }
  if (pair.many == kFill || pair.one == kFill) {
    const bool fill_many = pair.many == kFill;
    std::vector<bool> present;
    NX_RETURN_IF_ERROR(fill_many
                           ? NotePresence(&many_columns_, many_of_.of(pair.signature), &present)
                           : NotePresence(&one_columns_, one_of_.of(pair.signature), &present));
    filled.Reset(grid().count);
    for (size_t step = 0; step < grid().count; ++step) {
      if (!present[step]) filled.SetFloat(step, fill_many ? *fill_many_ : *fill_one_);
    }
    (fill_many ? many : one) = &filled;
  }
  NX_RETURN_IF_ERROR(ComputePair(pair, many, one, out));
  if (pair.many != kFill) many_columns_.Release(pair.many);
  if (pair.one != kFill) one_columns_.Release(pair.one);
  return absl::OkStatus();
}

absl::Status VectorBinaryOperator::ComputePair(const Pair& pair, const Column* many,
                                               const Column* one, Column* out) {
  // Fast path: one pair for this result, no rivals, floats at every step.
  const bool rivals = !matched_steps_.empty() && many_of_.of(pair.signature).size() > 1;
  if (matched_by_.empty() && !rivals && ComputeDense(*many, *one, out)) return absl::OkStatus();
  for (size_t step = 0; step < grid().count; ++step) {
    if (!many->has(step) || !one->has(step)) continue;
    NX_RETURN_IF_ERROR(ComputeStep(pair, step, many, one, out));
  }
  return absl::OkStatus();
}

bool VectorBinaryOperator::ComputeDense(const Column& many, const Column& one, Column* out) const {
  if (!IsArithmetic(binary_.op) || !many.dense() || !one.dense()) return false;
  const Column& left = swapped_ ? one : many;
  const Column& right = swapped_ ? many : one;
  out->FillFloats(0, grid().count, 0);
  ArithmeticKernel(binary_.op, left.values(), right.values(), out->mutable_values());
  return true;
}

absl::Status VectorBinaryOperator::ComputeStep(const Pair& pair, size_t step, const Column* many,
                                               const Column* one, Column* out) {
  const Column& left = swapped_ ? *one : *many;
  const Column& right = swapped_ ? *many : *one;
  const auto operand = [step](const Column& column) -> Operand {
    if (column.kind(step) == PointKind::kFloat) return {column.value(step), nullptr};
    return {0, column.histogram(step).get()};
  };
  const HistogramPtr* const left_ptr =
      left.kind(step) == PointKind::kHistogram ? &left.histogram(step) : nullptr;
  ElementResult result =
      BinaryElement(binary_.op, operand(left), left_ptr, operand(right),
                    static_cast<uint32_t>(binary_.position.begin), &context().annotations);
  using State = ElementResult::State;
  if (result.state == State::kIncompatible) return absl::OkStatus();
  NX_RETURN_IF_ERROR(MarkMatched(pair, step));
  if (binary_.return_bool) {
    if (out->has(step)) return ClashError();
    out->SetFloat(step, result.state == State::kKeep ? 1 : 0);
    return absl::OkStatus();
  }
  if (result.state == State::kFiltered) return absl::OkStatus();
  if (out->has(step)) return ClashError();
  if (result.histogram != nullptr) {
    out->SetHistogram(step, std::move(result.histogram));
  } else {
    out->SetFloat(step, result.value);
  }
  return absl::OkStatus();
}

// A step has one match for each signature (one-to-one), or for each signature and result labels.
absl::Status VectorBinaryOperator::MarkMatched(const Pair& pair, size_t step) {
  if (!matched_steps_.empty()) {
    if (many_of_.of(pair.signature).size() < 2) return absl::OkStatus();
    std::vector<bool>& matched = matched_steps_[pair.signature];
    if (matched.empty()) matched.assign(grid().count, false);
    if (matched[step]) {
      return base::FailedPrecondition(
          "multiple matches for labels: many-to-one matching must be explicit "
          "(group_left/group_right)");
    }
    matched[step] = true;
    return absl::OkStatus();
  }
  if (matched_by_.empty()) return absl::OkStatus();
  if (matched_by_[step] == pair.signature) {
    return base::FailedPrecondition(
        "multiple matches for labels: grouping labels must ensure unique matches");
  }
  matched_by_[step] = pair.signature;
  return absl::OkStatus();
}

SetOperator::SetOperator(QueryContext* context, OperatorPtr left, OperatorPtr right,
                         const Binary* binary)
    : Operator(context, left->grid()),
      left_(std::move(left)),
      right_(std::move(right)),
      op_(binary->op),
      signatures_(context, binary->matching) {}

absl::Status SetOperator::Prepare() {
  NX_RETURN_IF_ERROR(left_->Prepare());
  NX_RETURN_IF_ERROR(right_->Prepare());
  NX_RETURN_IF_ERROR(context().Tick(1 + left_->series().size() + right_->series().size()));
  left_signature_ = signatures_.NumberAll(left_->series());
  right_signature_ = signatures_.NumberAll(right_->series());
  left_of_ = ListBySignature(left_signature_, signatures_.count());
  right_of_ = ListBySignature(right_signature_, signatures_.count());
  presence_.resize(signatures_.count());
  const SeriesList& left = left_->series();
  switch (op_) {
    case BinaryOp::kAnd:
      for (uint32_t i = 0; i < left.size(); ++i) {
        if (right_of_.of(left_signature_[i]).empty()) continue;
        shown_.push_back(i);
        OwnSeries()->Add(left.labels(i), left.drop_name(i));
      }
      break;
    case BinaryOp::kOr: {
      SeriesList both;
      for (size_t i = 0; i < left.size(); ++i) both.Add(left.labels(i), left.drop_name(i));
      const SeriesList& right = right_->series();
      for (size_t i = 0; i < right.size(); ++i) both.Add(right.labels(i), right.drop_name(i));
      merge_ = PlanMerge(std::move(both));
      ShareSeries(merge_.series);
      early_.resize(left.size());
      left_read_.assign(left.size(), false);
      break;
    }
    default:
      ShareSeries(left);
  }
  return absl::OkStatus();
}

absl::Status SetOperator::Read(size_t index, Column* out) {
  if (op_ == BinaryOp::kAnd) return ReadLeft(shown_[index], out);
  if (op_ == BinaryOp::kUnless) return ReadLeft(static_cast<uint32_t>(index), out);
  if (merge_.trivial()) return ReadMember(static_cast<uint32_t>(index), out);
  out->Reset(grid().count);
  for (uint32_t i = merge_.begins[index]; i < merge_.begins[index + 1]; ++i) {
    NX_RETURN_IF_ERROR(ReadMember(merge_.members[i], &scratch_));
    NX_RETURN_IF_ERROR(MergeInto(scratch_, Clash::kSameStep, out));
  }
  return absl::OkStatus();
}

// Series of `or`: all of the left side, then all of the right one.
absl::Status SetOperator::ReadMember(uint32_t member, Column* out) {
  const auto num_left = static_cast<uint32_t>(left_->series().size());
  if (member >= num_left) return ReadRight(member - num_left, out);
  if (early_[member] != nullptr) {
    *out = std::move(*early_[member]);
    early_[member].reset();
    return absl::OkStatus();
  }
  NX_RETURN_IF_ERROR(left_->Read(member, out));
  left_read_[member] = true;
  if (right_of_.of(left_signature_[member]).empty()) return absl::OkStatus();
  Presence& present = presence_[left_signature_[member]];
  present.resize(grid().count);
  for (size_t step = 0; step < grid().count; ++step) {
    if (out->has(step)) present[step] = true;
  }
  return absl::OkStatus();
}

absl::Status SetOperator::ReadRight(uint32_t right, Column* out) {
  const uint32_t signature = right_signature_[right];
  for (const uint32_t left : left_of_.of(signature)) {
    if (left_read_[left]) continue;
    auto column = std::make_unique<Column>();
    NX_RETURN_IF_ERROR(ReadMember(left, column.get()));
    early_[left] = std::move(column);
  }
  NX_RETURN_IF_ERROR(right_->Read(right, out));
  const Presence& present = presence_[signature];
  if (present.empty()) return absl::OkStatus();
  for (size_t step = 0; step < grid().count; ++step) {
    if (present[step]) out->Clear(step);
  }
  return absl::OkStatus();
}

absl::StatusOr<const SetOperator::Presence*> SetOperator::RightPresence(uint32_t signature) {
  Presence& present = presence_[signature];
  const auto members = right_of_.of(signature);
  if (members.empty() || !present.empty()) return &present;
  present.assign(grid().count, false);
  Column column;
  for (const uint32_t member : members) {
    NX_RETURN_IF_ERROR(right_->Read(member, &column));
    for (size_t step = 0; step < grid().count; ++step) {
      if (column.has(step)) present[step] = true;
    }
  }
  NX_RETURN_IF_ERROR(context().budget.Visit(0, grid().count / 8));
  return &present;
}

absl::Status SetOperator::ReadLeft(uint32_t left, Column* out) {
  NX_RETURN_IF_ERROR(left_->Read(left, out));
  NX_ASSIGN_OR_RETURN(const Presence* present, RightPresence(left_signature_[left]));
  const bool keep_if = op_ == BinaryOp::kAnd;
  for (size_t step = 0; step < grid().count; ++step) {
    const bool matched = !present->empty() && (*present)[step];
    if (matched != keep_if) out->Clear(step);
  }
  return absl::OkStatus();
}

}  // namespace narthex::promql
