#include "promql/parse/parser.h"

#include <utility>

#include "narthex/base/status.h"
#include "promql/parse/grammar.h"
#include "promql/parse/type_check.h"

namespace narthex::promql {
namespace {

absl::Status ParseFailure(std::string_view text, const ParseError& error) {
  return base::InvalidArgument(PositionText(text, error.offset), ": parse error: ", error.text);
}

}  // namespace

ParseOptions ParseOptionsOf(const EngineOptions& options) {
  ParseOptions parse;
  parse.experimental_functions = options.enable_experimental_functions;
  parse.extended_ranges = options.enable_extended_ranges;
  parse.fill_modifiers = options.enable_fill_modifiers;
  return parse;
}

absl::StatusOr<ExprPtr> ParseExpression(std::string_view text, const ParseOptions& options) {
  Grammar grammar(text, options);
  ExprPtr root = grammar.ReadExpression();
  if (root == nullptr) return ParseFailure(text, grammar.error());
  if (const auto error = CheckTypes(text, root.get())) return ParseFailure(text, *error);
  return root;
}

absl::StatusOr<std::vector<model::Matcher>> ParseSelector(std::string_view text) {
  Grammar grammar(text, ParseOptions());
  const std::unique_ptr<VectorSelector> selector = grammar.ReadSelector();
  if (selector == nullptr) return ParseFailure(text, grammar.error());
  return std::move(selector->matchers);
}

}  // namespace narthex::promql
