#include "promql/exec/info_operator.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/model/labels.h"

namespace narthex::promql {

using model::Matcher;
using model::MatchType;
using model::Symbol;
using model::SymbolLabel;

namespace {

// Time and offset at which the first selector within looks at data; the info series follow it.
struct Moment {
  AtModifier at;
  int64_t offset_ms = 0;
};

std::optional<Moment> FirstMoment(const Expr& expr);

std::optional<Moment> FirstOf(std::initializer_list<const Expr*> parts) {
  for (const Expr* part : parts) {
    if (part == nullptr) continue;
    if (std::optional<Moment> moment = FirstMoment(*part)) return moment;
  }
  return std::nullopt;
}

std::optional<Moment> FirstMoment(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kVectorSelector: {
      const auto& selector = As<VectorSelector>(expr);
      return Moment{selector.at, selector.offset.ms};
    }
    case ExprKind::kMatrixSelector:
      return FirstMoment(*As<MatrixSelector>(expr).selector);
    case ExprKind::kSubquery: {
      const auto& subquery = As<Subquery>(expr);
      std::optional<Moment> moment = FirstMoment(*subquery.expr);
      // Subqueries around shift it until an @ holds it.
      if (moment.has_value() && moment->at.kind == AtKind::kNone) {
        moment->offset_ms += subquery.offset.ms;
        moment->at = subquery.at;
      }
      return moment;
    }
    case ExprKind::kAggregation: {
      const auto& node = As<Aggregation>(expr);
      return FirstOf({node.parameter.get(), node.expr.get()});
    }
    case ExprKind::kCall:
      for (const ExprPtr& arg : As<Call>(expr).args) {
        if (std::optional<Moment> moment = FirstMoment(*arg)) return moment;
      }
      return std::nullopt;
    case ExprKind::kBinary:
      return FirstOf({As<Binary>(expr).left.get(), As<Binary>(expr).right.get()});
    case ExprKind::kUnary:
      return FirstMoment(*As<Unary>(expr).expr);
    case ExprKind::kParen:
      return FirstMoment(*As<Paren>(expr).expr);
    case ExprKind::kNumber:
    case ExprKind::kString:
      break;
  }
  return std::nullopt;
}

std::string QuoteRegex(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted;
}

}  // namespace

InfoOperator::InfoOperator(QueryContext* context, OperatorPtr input)
    : Operator(context, input->grid()), input_(std::move(input)) {
  for (const std::string_view name : {"instance", "job"}) {
    identity_names_.push_back(context->symbols->Intern(name));
  }
}

absl::StatusOr<OperatorPtr> InfoOperator::Create(QueryContext* context, OperatorPtr input,
                                                 const Call& call) {
  auto info = std::unique_ptr<InfoOperator>(new InfoOperator(context, std::move(input)));
  bool positive = false;
  if (call.args.size() > 1) {
    const auto& selector = As<VectorSelector>(Unparenthesized(*call.args[1]));
    for (const Matcher& matcher : selector.matchers) {
      if (matcher.name() != model::kMetricName) {
        info->data_matchers_.push_back(matcher);
        info->data_names_.push_back(context->symbols->Intern(matcher.name()));
        continue;
      }
      info->name_matchers_.push_back(matcher);
      positive =
          positive || matcher.type() == MatchType::kEqual || matcher.type() == MatchType::kRegex;
    }
  }
  if (info->name_matchers_.empty()) {
    NX_ASSIGN_OR_RETURN(Matcher matcher,
                        Matcher::Create(MatchType::kEqual, model::kMetricName, "target_info"));
    info->name_matchers_.push_back(std::move(matcher));
  } else if (!positive) {
    NX_ASSIGN_OR_RETURN(Matcher matcher,
                        Matcher::Create(MatchType::kRegex, model::kMetricName, ".+_info"));
    info->name_matchers_.push_back(std::move(matcher));
  }
  if (const std::optional<Moment> moment = FirstMoment(*call.args[0])) {
    info->info_selector_.at = moment->at;
    info->info_selector_.offset.ms = moment->offset_ms;
  }
  return info;
}

absl::Status InfoOperator::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  NX_RETURN_IF_ERROR(SelectInfo());
  if (info_ != nullptr) NX_RETURN_IF_ERROR(ReadInfo());
  Column column;
  for (uint32_t i = 0; i < input_->series().size(); ++i) {
    NX_RETURN_IF_ERROR(input_->Read(i, &column));
    NX_RETURN_IF_ERROR(context().Tick(1 + column.num_points()));
    if (!column.empty()) NX_RETURN_IF_ERROR(Enrich(i, column));
  }
  for (uint32_t id = 0; id < results_.size(); ++id) {
    OwnSeries()->Add(results_.labels(id), drop_names_[id]);
  }
  return absl::OkStatus();
}

bool InfoOperator::IsInfoSeries(LabelSpan labels) const {
  const std::string_view name = context().MetricName(labels);
  return std::ranges::all_of(name_matchers_,
                             [name](const Matcher& matcher) { return matcher.Matches(name); });
}

// Only info series of values that occur are asked for.
absl::Status InfoOperator::AddIdentityMatchers(bool* any) {
  for (const Symbol name : identity_names_) {
    std::set<Symbol> values;
    for (size_t i = 0; i < input_->series().size(); ++i) {
      const LabelSpan labels = input_->series().labels(i);
      if (IsInfoSeries(labels)) continue;
      if (const std::optional<Symbol> value = FindLabel(labels, name)) values.insert(*value);
    }
    if (values.empty()) continue;
    std::string pattern;
    for (const Symbol value : values) {
      if (!pattern.empty()) pattern += '|';
      pattern += QuoteRegex(context().symbols->Text(value));
    }
    NX_ASSIGN_OR_RETURN(Matcher matcher,
                        Matcher::Create(MatchType::kRegex, context().symbols->Text(name), pattern));
    info_selector_.matchers.push_back(std::move(matcher));
    *any = true;
  }
  return absl::OkStatus();
}

absl::Status InfoOperator::SelectInfo() {
  bool any = false;
  NX_RETURN_IF_ERROR(AddIdentityMatchers(&any));
  if (!any) return absl::OkStatus();
  for (const auto* matchers : {&data_matchers_, &name_matchers_}) {
    info_selector_.matchers.insert(info_selector_.matchers.end(), matchers->begin(),
                                   matchers->end());
  }
  const DataTime time = DataTimeOf(info_selector_.at, info_selector_.offset);
  info_selector_.hints.range = {time.At(grid().start_ms) - context().lookback_ms + 1,
                                time.At(grid().end_ms())};
  info_selector_.hints.step_ms = grid().step_ms;
  info_selector_.hints.function = "info";
  info_ = std::make_unique<InstantSelector>(&context(), grid(), &info_selector_,
                                            InstantSelector::Yield::kFloatTimestamp);
  return info_->Prepare();
}

void InfoOperator::AppendIdentity(LabelSpan labels, std::vector<SymbolLabel>* out) const {
  for (const SymbolLabel& label : labels) {
    if (std::ranges::find(identity_names_, label.name) != identity_names_.end()) {
      out->push_back(label);
    }
  }
}

absl::Status InfoOperator::ReadInfo() {
  const SeriesList& series = info_->series();
  std::vector<SymbolLabel> key;
  std::vector<uint32_t> name_of(series.size());
  for (uint32_t i = 0; i < series.size(); ++i) {
    key.clear();
    if (const auto name = FindLabel(series.labels(i), context().name_symbol)) {
      key.push_back({context().name_symbol, *name});
    }
    name_of[i] = info_names_.Insert(key).id;
  }
  Column times;
  for (uint32_t i = 0; i < series.size(); ++i) {
    NX_RETURN_IF_ERROR(info_->Read(i, &times));
    if (times.num_histograms() != 0) {
      return base::FailedPrecondition("this should be an info metric, with float samples: ",
                                      LabelsToString(*context().symbols, series.labels(i)));
    }
    key.clear();
    AppendIdentity(series.labels(i), &key);
    const auto [identity, is_new] = identities_.Insert(key);
    if (is_new) sources_.emplace_back().resize(info_names_.size());
    Source& source = sources_[identity][name_of[i]];
    source.winner.resize(grid().count, kNobody);
    source.time.resize(grid().count);
    for (size_t step = 0; step < grid().count; ++step) {
      if (times.has(step)) NX_RETURN_IF_ERROR(Rival(i, step, &times, &source));
    }
  }
  return absl::OkStatus();
}

absl::Status InfoOperator::Rival(uint32_t series, size_t step, Column* times, Source* source) {
  const double time = times->value(step);
  const uint32_t other = source->winner[step];
  if (other != kNobody && source->time[step] == time) {
    const auto time_ms = static_cast<int64_t>(time * 1000 + (time < 0 ? -0.5 : 0.5));
    return base::FailedPrecondition(
        "found duplicate series for info metric: existing ",
        LabelsToString(*context().symbols, info_->series().labels(other)), " @ ", time_ms, ", new ",
        LabelsToString(*context().symbols, info_->series().labels(series)), " @ ", time_ms);
  }
  if (other == kNobody || time > source->time[step]) {
    source->winner[step] = series;
    source->time[step] = time;
  }
  return absl::OkStatus();
}

// Sorts the points of a series into results by which info series count at each step.
absl::Status InfoOperator::Enrich(uint32_t series, const Column& column) {
  const LabelSpan labels = input_->series().labels(series);
  const bool plain = IsInfoSeries(labels);
  std::vector<SymbolLabel> identity;
  AppendIdentity(labels, &identity);
  const std::optional<uint32_t> known = identities_.Find(identity);
  std::map<std::vector<uint32_t>, uint32_t> result_of;
  std::vector<uint32_t> winners;
  for (size_t step = 0; step < column.size(); ++step) {
    if (!column.has(step)) continue;
    winners.clear();
    if (known.has_value() && !plain) {
      for (const Source& source : sources_[*known]) {
        if (source.winner.empty() || source.winner[step] == kNobody) continue;
        winners.push_back(source.winner[step]);
      }
    }
    const auto [place, is_new] = result_of.try_emplace(winners, kNobody);
    if (is_new) {
      const bool lost =
          !plain && winners.empty() && !std::ranges::all_of(data_matchers_, &Matcher::MatchesEmpty);
      if (!lost) NX_RETURN_IF_ERROR(ResultFor(series, winners, &place->second));
    }
    if (place->second == kNobody) continue;
    Column& result = columns_[place->second];
    if (result.has(step)) return ClashError();
    result.CopyPoint(step, column, step);
  }
  return absl::OkStatus();
}

absl::Status InfoOperator::ResultFor(uint32_t series, const std::vector<uint32_t>& winners,
                                     uint32_t* result) {
  const LabelSpan base = input_->series().labels(series);
  std::vector<SymbolLabel> added;
  for (const uint32_t winner : winners) NX_RETURN_IF_ERROR(AddInfoLabels(winner, base, &added));
  std::vector<SymbolLabel> labels(base.begin(), base.end());
  for (const SymbolLabel& label : added) {
    SetLabel(*context().symbols, label.name, label.value, &labels);
  }
  const auto [id, is_new] = results_.Insert(labels);
  *result = id;
  if (!is_new) return absl::OkStatus();
  drop_names_.push_back(input_->series().drop_name(series));
  columns_.emplace_back().Reset(grid().count);
  return context().budget.Take(grid().count, columns_.back().num_bytes());
}

bool InfoOperator::Wanted(Symbol name) const {
  if (name == context().name_symbol) return false;
  return data_names_.empty() || std::ranges::find(data_names_, name) != data_names_.end();
}

absl::Status InfoOperator::AddInfoLabels(uint32_t winner, LabelSpan base,
                                         std::vector<SymbolLabel>* added) const {
  for (const SymbolLabel& label : info_->series().labels(winner)) {
    if (!Wanted(label.name)) continue;
    const std::optional<Symbol> other = FindLabel(*added, label.name);
    if (other.has_value() && *other != label.value) {
      return base::FailedPrecondition("conflicting label: ", context().symbols->Text(label.name));
    }
    if (other.has_value() || FindLabel(base, label.name).has_value()) continue;
    added->push_back(label);
  }
  return absl::OkStatus();
}

absl::Status InfoOperator::Read(size_t index, Column* out) {
  *out = std::move(columns_[index]);
  return absl::OkStatus();
}

}  // namespace narthex::promql
