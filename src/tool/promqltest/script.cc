#include "tool/promqltest/script.h"

#include <algorithm>
#include <map>
#include <utility>

#include "narthex/base/duration.h"
#include "narthex/base/status.h"
#include "narthex/promql/engine.h"
#include "tool/promqltest/text_scanner.h"

namespace narthex::tool {
namespace {

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = Trimmed(text.substr(0, end));
    if (line.starts_with('#')) line = {};
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The next field; empty at the end.
std::string_view NextField(TextScanner* scanner) {
  scanner->SkipSpaces();
  return scanner->TakeField();
}

absl::Status ExpectField(TextScanner* scanner, std::string_view wanted) {
  const std::string_view field = NextField(scanner);
  if (field == wanted) return absl::OkStatus();
  return base::InvalidArgument("expected \"", wanted, "\", got \"", field, "\"");
}

absl::StatusOr<int64_t> NextDuration(TextScanner* scanner) {
  return base::ParseDurationMs(NextField(scanner));
}

// `from A to B step S`.
absl::Status TakeRange(TextScanner* scanner, EvalCommand* eval) {
  NX_RETURN_IF_ERROR(ExpectField(scanner, "from"));
  NX_ASSIGN_OR_RETURN(eval->start_ms, NextDuration(scanner));
  NX_RETURN_IF_ERROR(ExpectField(scanner, "to"));
  NX_ASSIGN_OR_RETURN(eval->end_ms, NextDuration(scanner));
  NX_RETURN_IF_ERROR(ExpectField(scanner, "step"));
  NX_ASSIGN_OR_RETURN(eval->step_ms, NextDuration(scanner));
  if (eval->end_ms < eval->start_ms) {
    return base::InvalidArgument("end timestamp is before start timestamp");
  }
  if (eval->step_ms <= 0) return base::InvalidArgument("step must be greater than 0");
  return absl::OkStatus();
}

absl::StatusOr<std::string> Unquoted(std::string_view quoted) {
  // A matcher's value is such a string.
  const auto matchers = promql::ParseSelector(base::StrCat("{a=", quoted, "}"));
  if (!matchers.ok() || matchers->size() != 1) {
    return base::InvalidArgument(
        "expected string literal not valid - check that the string is correctly quoted");
  }
  return matchers->front().value();
}

// The lines after a command's first one, up to a blank line.
class Block {
 public:
  Block(const std::vector<std::string_view>& lines, size_t first) : lines_(lines), next_(first) {}
  bool Next(std::string_view* line) {
    if (next_ >= lines_.size() || lines_[next_].empty()) return false;
    *line = lines_[next_++];
    return true;
  }
  size_t next() const { return next_; }

 private:
  const std::vector<std::string_view>& lines_;
  size_t next_;
};

// `metric{..}@st offsets`: where the offsets begin, npos if it is no such line.
size_t StartOffsetsAt(std::string_view line) {
  const size_t end = line.find_first_of(" \t");
  const bool is_one = end != std::string_view::npos && line.substr(0, end).ends_with("@st");
  return is_one ? end : std::string_view::npos;
}

absl::Status ParseLoad(std::string_view head, Block* block, LoadCommand* load) {
  TextScanner scanner(head);
  const std::string_view keyword = NextField(&scanner);
  load->with_nhcb = keyword == "load_with_nhcb";
  if (!load->with_nhcb && keyword != "load") {
    return base::InvalidArgument("invalid load command. (load[_with_nhcb] <step:duration>)");
  }
  NX_ASSIGN_OR_RETURN(load->step_ms, NextDuration(&scanner));
  std::optional<SeriesDescription> starts;
  std::map<model::Labels, size_t> slots;
  std::string_view line;
  while (block->Next(&line)) {
    if (const size_t at = StartOffsetsAt(line); at != std::string_view::npos) {
      if (starts.has_value()) return base::InvalidArgument("@st line has no following sample line");
      NX_ASSIGN_OR_RETURN(starts, ParseSeriesDescription(line.substr(0, at - 3)));
      NX_ASSIGN_OR_RETURN(starts->values, ParseStartOffsets(line.substr(at)));
      continue;
    }
    LoadedSeries loaded;
    NX_ASSIGN_OR_RETURN(loaded.series, ParseSeriesDescription(line));
    if (starts.has_value()) {
      if (starts->labels != loaded.series.labels) {
        return base::InvalidArgument("@st metric does not match the following sample line metric");
      }
      if (starts->values.size() != loaded.series.values.size()) {
        return base::InvalidArgument("@st line has ", starts->values.size(),
                                     " values but sample line has ", loaded.series.values.size());
      }
      loaded.start_offsets = std::move(starts->values);
      starts.reset();
    }
    // Of series with the same labels the last one counts.
    const auto [slot, is_new] = slots.emplace(loaded.series.labels, load->series.size());
    if (is_new) load->series.emplace_back();
    load->series[slot->second] = std::move(loaded);
  }
  if (starts.has_value()) return base::InvalidArgument("@st line has no following sample line");
  return absl::OkStatus();
}

// `msg: TEXT` or `regex: PATTERN`; nothing accepts anything.
absl::StatusOr<ExpectedText> ParseExpectedText(std::string_view text) {
  text = Trimmed(text);
  if (text.empty()) return ExpectedText::Anything();
  constexpr std::string_view kMessage = "msg:";
  constexpr std::string_view kRegex = "regex:";
  if (text.starts_with(kMessage)) {
    return ExpectedText::Exactly(Trimmed(text.substr(kMessage.size())));
  }
  if (text.starts_with(kRegex)) {
    return ExpectedText::Matching(Trimmed(text.substr(kRegex.size())));
  }
  return base::InvalidArgument(
      "invalid expect statement, must match `expect <type> <match_type>: <string>` format");
}

// An `expect ...` line behind that word.
absl::Status ParseExpect(std::string_view rest, EvalCommand* eval) {
  TextScanner scanner(rest);
  const std::string_view type = NextField(&scanner);
  if (type == "range") {
    NX_RETURN_IF_ERROR(ExpectField(&scanner, "vector"));
    NX_RETURN_IF_ERROR(TakeRange(&scanner, eval));
    eval->eval_ms = eval->end_ms;
    eval->instant_only = true;
    return absl::OkStatus();
  }
  if (type == "string") {
    NX_ASSIGN_OR_RETURN(eval->string, Unquoted(Trimmed(scanner.rest())));
    eval->instant_only = true;
    return absl::OkStatus();
  }
  NX_ASSIGN_OR_RETURN(ExpectedText text, ParseExpectedText(scanner.rest()));
  if (type == "ordered") {
    eval->ordered = true;
  } else if (type == "no_warn") {
    eval->no_warning = true;
  } else if (type == "no_info") {
    eval->no_info = true;
  } else if (type == "warn") {
    eval->warnings.push_back(std::move(text));
  } else if (type == "info") {
    eval->infos.push_back(std::move(text));
  } else if (type == "fail" && !eval->fail.has_value()) {
    eval->fail = std::move(text);
  } else if (type == "fail") {
    return base::InvalidArgument(
        "invalid expect lines, multiple expect fail lines are not allowed");
  } else {
    return base::InvalidArgument("invalid expected error/annotation type ", type);
  }
  if (eval->no_warning && !eval->warnings.empty()) {
    return base::InvalidArgument("invalid expect lines, warn and no_warn cannot be used together");
  }
  if (eval->no_info && !eval->infos.empty()) {
    return base::InvalidArgument("invalid expect lines, info and no_info cannot be used together");
  }
  return absl::OkStatus();
}

std::optional<double> WholeNumber(std::string_view line) {
  TextScanner scanner(line);
  const std::optional<double> value = scanner.TakeNumber();
  return scanner.done() ? value : std::nullopt;
}

// The old spelling of what an error should say, below an eval_fail.
absl::StatusOr<bool> TakeOldFailure(std::string_view line, EvalCommand* eval) {
  constexpr std::string_view kMessage = "expected_fail_message";
  constexpr std::string_view kRegex = "expected_fail_regexp";
  if (!eval->fail.has_value()) return false;
  if (line.starts_with(kMessage)) {
    eval->fail = ExpectedText::Exactly(Trimmed(line.substr(kMessage.size())));
    return true;
  }
  if (line.starts_with(kRegex)) {
    NX_ASSIGN_OR_RETURN(eval->fail, ExpectedText::Matching(Trimmed(line.substr(kRegex.size()))));
    return true;
  }
  return false;
}

absl::Status ParseExpectations(Block* block, EvalCommand* eval) {
  size_t position = 0;
  std::string_view line;
  while (block->Next(&line)) {
    NX_ASSIGN_OR_RETURN(const bool is_failure, TakeOldFailure(line, eval));
    if (is_failure) continue;
    TextScanner scanner(line);
    if (scanner.TakeField() == "expect") {
      NX_RETURN_IF_ERROR(ParseExpect(scanner.rest(), eval));
      continue;
    }
    if (const auto number = WholeNumber(line)) {
      eval->scalar = number;
      continue;
    }
    NX_ASSIGN_OR_RETURN(SeriesDescription series, ParseSeriesDescription(line));
    if (series.values.size() > 1 && !eval->is_range && !eval->instant_only) {
      return base::InvalidArgument(
          "expecting multiple values in instant evaluation not allowed. consider using 'expect "
          "range vector' directive to enable a range vector result for an instant query");
    }
    if (series.values.empty()) return base::InvalidArgument("no value is expected of the series");
    eval->series[series.labels] = {++position, std::move(series.values)};
  }
  return absl::OkStatus();
}

absl::Status ParseEval(std::string_view head, Block* block, EvalCommand* eval) {
  TextScanner scanner(head);
  const std::string_view keyword = NextField(&scanner);
  if (keyword == "eval_fail") {
    eval->fail = ExpectedText::Anything();
  } else if (keyword == "eval_warn") {
    eval->some_warning = true;
  } else if (keyword == "eval_info") {
    eval->some_info = true;
  } else if (keyword == "eval_ordered") {
    eval->ordered = true;
  } else if (keyword != "eval") {
    return base::InvalidArgument("invalid command \"", keyword, "\"");
  }
  const std::string_view kind = NextField(&scanner);
  if (kind == "range") {
    eval->is_range = true;
    NX_RETURN_IF_ERROR(TakeRange(&scanner, eval));
  } else if (kind == "instant") {
    NX_RETURN_IF_ERROR(ExpectField(&scanner, "at"));
    NX_ASSIGN_OR_RETURN(eval->eval_ms, NextDuration(&scanner));
    eval->start_ms = eval->end_ms = eval->eval_ms;
  } else {
    return base::InvalidArgument(
        "invalid evaluation command: must be \"eval instant at TIME QUERY\" or \"eval range from "
        "TIME to TIME step DURATION QUERY\"");
  }
  eval->expr = std::string(Trimmed(scanner.rest()));
  if (eval->expr.empty()) return base::InvalidArgument("the evaluation has no query");
  return ParseExpectations(block, eval);
}

absl::Status ParseCommand(std::string_view head, Block* block, ScriptCommand* out) {
  if (head.starts_with("load")) {
    return ParseLoad(head, block, &out->command.emplace<LoadCommand>());
  }
  if (head.starts_with("eval")) {
    return ParseEval(head, block, &out->command.emplace<EvalCommand>());
  }
  if (head == "clear") {
    out->command.emplace<ClearCommand>();
    return absl::OkStatus();
  }
  return base::InvalidArgument("invalid command \"", head, "\"");
}

}  // namespace

ExpectedText ExpectedText::Exactly(std::string_view text) {
  ExpectedText expected;
  expected.text_ = std::string(text);
  expected.exact_ = true;
  return expected;
}

absl::StatusOr<ExpectedText> ExpectedText::Matching(std::string_view pattern) {
  ExpectedText expected;
  expected.text_ = std::string(pattern);
  NX_ASSIGN_OR_RETURN(expected.regex_,
                      base::Regex::CompileAnchored(base::StrCat(".*(?-s:", pattern, ").*")));
  return expected;
}

bool ExpectedText::Accepts(std::string_view text) const {
  if (exact_) return text == text_;
  return !regex_.has_value() || regex_->Matches(text);
}

absl::StatusOr<std::vector<ScriptCommand>> ParseScript(std::string_view text) {
  const std::vector<std::string_view> lines = SplitLines(text);
  std::vector<ScriptCommand> commands;
  size_t next = 0;
  while (next < lines.size()) {
    const std::string_view head = lines[next++];
    if (head.empty()) continue;
    ScriptCommand command;
    command.line = static_cast<int>(next);
    Block block(lines, next);
    const absl::Status status = ParseCommand(head, &block, &command);
    next = block.next();
    if (!status.ok()) return base::WithContext(status, base::StrCat(next));
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace narthex::tool
