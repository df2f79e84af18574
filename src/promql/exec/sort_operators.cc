#include "promql/exec/sort_operators.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "narthex/base/status.h"

namespace narthex::promql {

absl::Status SortOperator::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  const SeriesList& input = input_->series();
  if (grid().count != 1) {
    ShareSeries(input);
    return absl::OkStatus();
  }
  struct Element {
    uint32_t series;
    double value;
  };
  std::vector<Element> elements;
  Column column;
  for (uint32_t i = 0; i < input.size(); ++i) {
    NX_RETURN_IF_ERROR(input_->Read(i, &column));
    if (column.num_floats() != 0) elements.push_back({i, column.value(0)});
  }
  NX_RETURN_IF_ERROR(context().budget.Visit(elements.size(), elements.size() * sizeof(Element)));
  std::ranges::stable_sort(elements, [this](const Element& a, const Element& b) {
    if (std::isnan(a.value) || std::isnan(b.value)) return !std::isnan(a.value);
    return order_ == SortOrder::kAscending ? a.value < b.value : a.value > b.value;
  });
  for (const Element& element : elements) {
    OwnSeries()->Add(input.labels(element.series), input.drop_name(element.series));
    sorted_values_.push_back(element.value);
  }
  return absl::OkStatus();
}

absl::Status SortOperator::Read(size_t index, Column* out) {
  if (grid().count != 1) {
    NX_RETURN_IF_ERROR(input_->Read(index, out));
    out->DropHistograms();
    return absl::OkStatus();
  }
  out->Reset(1);
  out->SetFloat(0, sorted_values_[index]);
  return absl::OkStatus();
}

absl::Status SortByLabelOperator::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  const SeriesList& input = input_->series();
  places_.resize(input.size());
  std::iota(places_.begin(), places_.end(), 0);
  const model::SymbolTable& symbols = *context().symbols;
  std::vector<model::Symbol> names;
  for (const std::string& label : labels_) names.push_back(context().symbols->Intern(label));
  const auto less = [&](uint32_t a, uint32_t b) {
    for (const model::Symbol name : names) {
      const std::string_view first = LabelText(symbols, input.labels(a), name);
      const std::string_view second = LabelText(symbols, input.labels(b), name);
      if (first == second) continue;
      const bool before = NaturalLess(first, second);
      return order_ == SortOrder::kAscending ? before : !before;
    }
    const int order = CompareLabels(symbols, input.labels(a), input.labels(b));
    return order_ == SortOrder::kAscending ? order < 0 : order > 0;
  };
  // Range queries are ordered at the end anyway.
  if (grid().count == 1) std::ranges::stable_sort(places_, less);
  for (const uint32_t place : places_)
    OwnSeries()->Add(input.labels(place), input.drop_name(place));
  return absl::OkStatus();
}

absl::Status SortByLabelOperator::Read(size_t index, Column* out) {
  return input_->Read(places_[index], out);
}

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Cuts a run of digits or of anything else off the front.
std::string_view NextChunk(std::string_view* text) {
  size_t size = 1;
  while (size < text->size() && IsDigit((*text)[size]) == IsDigit((*text)[0])) ++size;
  const std::string_view chunk = text->substr(0, size);
  text->remove_prefix(size);
  return chunk;
}

std::optional<int64_t> NumberOf(std::string_view chunk) {
  int64_t number = 0;
  const auto result = std::from_chars(chunk.data(), chunk.data() + chunk.size(), number);
  if (result.ec != std::errc() || result.ptr != chunk.data() + chunk.size()) return std::nullopt;
  return number;
}

}  // namespace

bool NaturalLess(std::string_view a, std::string_view b) {
  while (!a.empty()) {
    if (b.empty()) return false;
    const std::string_view first = NextChunk(&a);
    const std::string_view second = NextChunk(&b);
    const std::optional<int64_t> first_number = NumberOf(first);
    const std::optional<int64_t> second_number = NumberOf(second);
    if (first_number.has_value() && second_number.has_value()) {
      if (*first_number != *second_number) return *first_number < *second_number;
    } else if (first != second) {
      return first < second;
    }
    if (a.empty()) return true;
  }
  return false;
}

}  // namespace narthex::promql
