#include "promql/exec/label_functions.h"

#include <optional>
#include <unordered_map>

#include "narthex/base/status.h"
#include "narthex/model/labels.h"

namespace narthex::promql {
namespace {

using model::Symbol;
using model::SymbolLabel;

// Functions inside each other could double a text at each level.
constexpr size_t kMaxTextBytes = 1u << 20;

bool IsLabelName(const std::string& name) {
  return model::IsValidLabelName(name, model::NameValidation::kUtf8);
}

// Sets the destination label; an empty text removes it. A metric name that was set stays.
class LabelSettingOperator : public MapOperator {
 protected:
  LabelSettingOperator(QueryContext* context, OperatorPtr input, const std::string& destination)
      : MapOperator(context, std::move(input), LabelChange::kMap),
        destination_(context->symbols->Intern(destination)) {}

  // What is made here stays until the query's end and counts as its memory.
  absl::Status Set(std::string_view text, std::vector<SymbolLabel>* labels, bool* drop_name) {
    if (text.size() > kMaxTextBytes) {
      return base::ResourceExhausted("a label value of more than ", kMaxTextBytes,
                                     " bytes would be made in query execution");
    }
    std::optional<Symbol> value;
    if (!text.empty()) {
      const size_t num_bytes_before = context().symbols->num_bytes();
      value = context().symbols->Intern(text);
      NX_RETURN_IF_ERROR(
          context().budget.Take(0, context().symbols->num_bytes() - num_bytes_before));
    }
    SetLabel(*context().symbols, destination_, value, labels);
    if (destination_ == context().name_symbol) *drop_name = false;
    return absl::OkStatus();
  }
  absl::Status Transform(size_t, Column*) final { return absl::OkStatus(); }

 private:
  const Symbol destination_;
};

class LabelReplaceOperator final : public LabelSettingOperator {
 public:
  LabelReplaceOperator(QueryContext* context, OperatorPtr input, const std::string& destination,
                       std::string replacement, const std::string& source, base::Regex regex)
      : LabelSettingOperator(context, std::move(input), destination),
        source_(context->symbols->Intern(source)),
        replacement_(std::move(replacement)),
        regex_(std::move(regex)) {}

 private:
  struct Verdict {
    bool matches = false;
    std::string text;
  };

  absl::Status MapLabels(std::vector<SymbolLabel>* labels, bool* drop_name) override {
    const std::optional<Symbol> value = FindLabel(*labels, source_);
    // Computed once per distinct value.
    const auto [place, is_new] = verdicts_.try_emplace(value.value_or(kNoValue));
    Verdict& verdict = place->second;
    if (is_new) {
      const std::string_view text =
          value.has_value() ? context().symbols->Text(*value) : std::string_view();
      verdict.matches = regex_.Expand(text, replacement_, &verdict.text, kMaxTextBytes);
      NX_RETURN_IF_ERROR(context().budget.Take(0, verdict.text.size()));
    }
    return verdict.matches ? Set(verdict.text, labels, drop_name) : absl::OkStatus();
  }

  static constexpr Symbol kNoValue = UINT32_MAX;
  const Symbol source_;
  const std::string replacement_;
  const base::Regex regex_;
  std::unordered_map<Symbol, Verdict> verdicts_;
};

class LabelJoinOperator final : public LabelSettingOperator {
 public:
  LabelJoinOperator(QueryContext* context, OperatorPtr input, const std::string& destination,
                    std::string separator, std::vector<Symbol> sources)
      : LabelSettingOperator(context, std::move(input), destination),
        separator_(std::move(separator)),
        sources_(std::move(sources)) {}

 private:
  absl::Status MapLabels(std::vector<SymbolLabel>* labels, bool* drop_name) override {
    std::string joined;
    for (size_t i = 0; i < sources_.size() && joined.size() <= kMaxTextBytes; ++i) {
      if (i != 0) joined += separator_;
      joined += LabelText(*context().symbols, *labels, sources_[i]);
    }
    return Set(joined, labels, drop_name);
  }

  const std::string separator_;
  const std::vector<Symbol> sources_;
};

}  // namespace

const std::string& StringArgument(const Expr& argument) {
  return As<StringLiteral>(Unparenthesized(argument)).value;
}

absl::StatusOr<OperatorPtr> NewLabelReplace(QueryContext* context, OperatorPtr input,
                                            const Call& call) {
  const std::string& destination = StringArgument(*call.args[1]);
  const std::string& pattern = StringArgument(*call.args[4]);
  auto regex = base::Regex::CompileAnchored(pattern);
  if (!regex.ok()) {
    return base::FailedPrecondition("invalid regular expression in label_replace(): ", pattern);
  }
  if (!IsLabelName(destination)) {
    return base::FailedPrecondition("invalid destination label name in label_replace(): ",
                                    destination);
  }
  return std::make_unique<LabelReplaceOperator>(context, std::move(input), destination,
                                                StringArgument(*call.args[2]),
                                                StringArgument(*call.args[3]), *std::move(regex));
}

absl::StatusOr<OperatorPtr> NewLabelJoin(QueryContext* context, OperatorPtr input,
                                         const Call& call) {
  std::vector<Symbol> sources;
  for (size_t i = 3; i < call.args.size(); ++i) {
    const std::string& source = StringArgument(*call.args[i]);
    if (!IsLabelName(source)) {
      return base::FailedPrecondition("invalid source label name in label_join(): ", source);
    }
    sources.push_back(context->symbols->Intern(source));
  }
  const std::string& destination = StringArgument(*call.args[1]);
  if (!IsLabelName(destination)) {
    return base::FailedPrecondition("invalid destination label name in label_join(): ",
                                    destination);
  }
  return std::make_unique<LabelJoinOperator>(context, std::move(input), destination,
                                             StringArgument(*call.args[2]), std::move(sources));
}

}  // namespace narthex::promql
