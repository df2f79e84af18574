#include "promql/exec/arithmetic.h"

#include <cmath>
#include <utility>

#include "narthex/base/check.h"
#include "narthex/model/histogram_math.h"

namespace narthex::promql {

using model::FloatHistogram;
using State = ElementResult::State;

bool IsArithmetic(BinaryOp op) { return op <= BinaryOp::kAtan2; }

bool Compare(BinaryOp op, double left, double right) {
  switch (op) {
    case BinaryOp::kEqual:
      return left == right;
    case BinaryOp::kNotEqual:
      return left != right;
    case BinaryOp::kLess:
      return left < right;
    case BinaryOp::kLessEqual:
      return left <= right;
    case BinaryOp::kGreater:
      return left > right;
    case BinaryOp::kGreaterEqual:
      return left >= right;
    default:
      return false;
  }
}

double ScalarBinary(BinaryOp op, double left, double right) {
  switch (op) {
    case BinaryOp::kAdd:
      return left + right;
    case BinaryOp::kSubtract:
      return left - right;
    case BinaryOp::kMultiply:
      return left * right;
    case BinaryOp::kDivide:
      return left / right;
    case BinaryOp::kModulo:
      return std::fmod(left, right);
    case BinaryOp::kPower:
      return std::pow(left, right);
    case BinaryOp::kAtan2:
      return std::atan2(left, right);
    default:
      return Compare(op, left, right) ? 1 : 0;
  }
}

namespace {

template <typename Function>
void Apply(std::span<const double> left, std::span<const double> right, std::span<double> out,
           const Function& function) {
  const size_t size = out.size();
  for (size_t i = 0; i < size; ++i) out[i] = function(left[i], right[i]);
}

}  // namespace

void ArithmeticKernel(BinaryOp op, std::span<const double> left, std::span<const double> right,
                      std::span<double> out) {
  switch (op) {
    case BinaryOp::kAdd:
      return Apply(left, right, out, [](double a, double b) { return a + b; });
    case BinaryOp::kSubtract:
      return Apply(left, right, out, [](double a, double b) { return a - b; });
    case BinaryOp::kMultiply:
      return Apply(left, right, out, [](double a, double b) { return a * b; });
    case BinaryOp::kDivide:
      return Apply(left, right, out, [](double a, double b) { return a / b; });
    default:
      return Apply(left, right, out, [op](double a, double b) { return ScalarBinary(op, a, b); });
  }
}

namespace {

ElementResult Incompatible(BinaryOp op, const Operand& left, const Operand& right,
                           uint32_t position, Annotations* annotations) {
  const auto kind = [](const Operand& operand) -> std::string_view {
    return operand.histogram == nullptr ? "float" : "histogram";
  };
  annotations->AddIncompatibleTypes(BinaryOpName(op), kind(left), kind(right), position);
  return {State::kIncompatible, 0, nullptr};
}

ElementResult Keep(FloatHistogram&& histogram) {
  ElementResult result;
  result.histogram = std::make_shared<const FloatHistogram>(std::move(histogram));
  return result;
}

ElementResult Scaled(BinaryOp op, const FloatHistogram& histogram, double by) {
  FloatHistogram result = histogram;
  if (op == BinaryOp::kMultiply) {
    model::Multiply(&result, by);
  } else {
    model::Divide(&result, by);
  }
  model::Compact(&result);
  return Keep(std::move(result));
}

ElementResult Combine(BinaryOp op, const FloatHistogram& left, const FloatHistogram& right,
                      uint32_t position, Annotations* annotations) {
  const bool add = op == BinaryOp::kAdd;
  FloatHistogram result = left;
  const model::Combined combined =
      add ? model::Add(&result, right) : model::Subtract(&result, right);
  if (!combined.compatible) {
    annotations->AddIncompatibleLayout(BinaryOpName(op), position);
    return {State::kIncompatible, 0, nullptr};
  }
  if (!add) result.hint = model::CounterResetHint::kGauge;
  if (combined.hint_collision) {
    annotations->Add(add ? Note::kCollisionInAddition : Note::kCollisionInSubtraction, position);
  }
  if (combined.bounds_reconciled) {
    annotations->Add(add ? Note::kReconciledInAddition : Note::kReconciledInSubtraction, position);
  }
  model::Compact(&result);
  return Keep(std::move(result));
}

ElementResult TwoHistograms(BinaryOp op, const Operand& left, const HistogramPtr* left_ptr,
                            const Operand& right, uint32_t position, Annotations* annotations) {
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSubtract:
      return Combine(op, *left.histogram, *right.histogram, position, annotations);
    case BinaryOp::kEqual:
    case BinaryOp::kNotEqual: {
      ElementResult result;
      const bool equal = model::Equals(*left.histogram, *right.histogram);
      result.state = equal == (op == BinaryOp::kEqual) ? State::kKeep : State::kFiltered;
      result.histogram =
          left_ptr != nullptr ? *left_ptr : std::make_shared<const FloatHistogram>(*left.histogram);
      return result;
    }
    default:
      return Incompatible(op, left, right, position, annotations);
  }
}

}  // namespace

ElementResult BinaryElement(BinaryOp op, const Operand& left, const HistogramPtr* left_ptr,
                            const Operand& right, uint32_t position, Annotations* annotations) {
  const bool trims = op == BinaryOp::kTrimLower || op == BinaryOp::kTrimUpper;
  if (left.histogram == nullptr && right.histogram == nullptr) {
    if (trims) return Incompatible(op, left, right, position, annotations);
    if (IsArithmetic(op)) {
      return {State::kKeep, ScalarBinary(op, left.value, right.value), nullptr};
    }
    const bool holds = Compare(op, left.value, right.value);
    return {holds ? State::kKeep : State::kFiltered, left.value, nullptr};
  }
  if (left.histogram == nullptr) {
    if (op != BinaryOp::kMultiply) return Incompatible(op, left, right, position, annotations);
    return Scaled(op, *right.histogram, left.value);
  }
  if (right.histogram == nullptr) {
    if (op == BinaryOp::kMultiply || op == BinaryOp::kDivide) {
      return Scaled(op, *left.histogram, right.value);
    }
    if (!trims) return Incompatible(op, left, right, position, annotations);
    FloatHistogram result = *left.histogram;
    model::TrimBuckets(
        &result, right.value,
        op == BinaryOp::kTrimUpper ? model::Trim::kKeepBelow : model::Trim::kKeepAbove);
    return Keep(std::move(result));
  }
  return TwoHistograms(op, left, left_ptr, right, position, annotations);
}

}  // namespace narthex::promql
