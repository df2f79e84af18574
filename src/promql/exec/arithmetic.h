// The binary operators on single values: floats in bulk, histograms one by one. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "promql/exec/column.h"
#include "promql/functions/annotations.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

// Arithmetic as IEEE and C have it, comparisons as 0 or 1. REQUIRES: no set or trim operator.
double ScalarBinary(BinaryOp op, double left, double right);

// out[i] = left[i] op right[i] for the arithmetic operators. `out` may be either input.
// REQUIRES: op is arithmetic; sizes are equal.
void ArithmeticKernel(BinaryOp op, std::span<const double> left, std::span<const double> right,
                      std::span<double> out);

bool IsArithmetic(BinaryOp op);  // + - * / % ^ atan2.
bool Compare(BinaryOp op, double left, double right);

// An operand: a float, or a histogram if the pointer is set.
struct Operand {
  double value = 0;
  const model::FloatHistogram* histogram = nullptr;
};

// What an operator makes of two operands.
struct ElementResult {
  enum class State : uint8_t {
    kKeep,
    kFiltered,      // A comparison that does not hold.
    kIncompatible,  // No result for these kinds or bucket layouts; noted.
  };
  State state = State::kKeep;
  double value = 0;
  HistogramPtr histogram;  // Set if the result is one.
};

// Comparisons give the left operand, kKeep or kFiltered. Notes go to `annotations` at `position`;
// `left_ptr`, if not null, is what left.histogram points to, to be shared rather than copied.
ElementResult BinaryElement(BinaryOp op, const Operand& left, const HistogramPtr* left_ptr,
                            const Operand& right, uint32_t position, Annotations* annotations);

}  // namespace narthex::promql
