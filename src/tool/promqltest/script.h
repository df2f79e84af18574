// A query test script as commands: `load`, `clear`, `eval ...` with what is expected of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/base/regex.h"
#include "narthex/model/labels.h"
#include "tool/promqltest/series_notation.h"

namespace narthex::tool {

struct LoadedSeries {
  SeriesDescription series;
  std::vector<SequenceValue> start_offsets;  // Empty, or one per value.
};

struct LoadCommand {
  int64_t step_ms = 0;
  bool with_nhcb = false;  // Classic histograms are stored with custom buckets, too.
  std::vector<LoadedSeries> series;
};

struct ClearCommand {};

// A text, or an expression that a text must match anywhere.
class ExpectedText {
 public:
  static ExpectedText Exactly(std::string_view text);
  static absl::StatusOr<ExpectedText> Matching(std::string_view pattern);
  static ExpectedText Anything() { return {}; }
  bool Accepts(std::string_view text) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool exact_ = false;
  std::optional<base::Regex> regex_;
};

struct ExpectedSeries {
  size_t position = 0;  // Of its line among the others, from 1.
  std::vector<SequenceValue> values;
};

struct EvalCommand {
  std::string expr;
  bool is_range = false;
  // Closed; of a range vector also the times of its points.
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  int64_t step_ms = 0;
  int64_t eval_ms = 0;

  std::optional<ExpectedText> fail;
  std::vector<ExpectedText> warnings, infos;
  bool some_warning = false, some_info = false;  // The old eval_warn and eval_info.
  bool no_warning = false, no_info = false;
  bool ordered = false;
  // The result is no instant vector or scalar, so a range query cannot give it.
  bool instant_only = false;

  std::optional<double> scalar;
  std::optional<std::string> string;
  std::map<model::Labels, ExpectedSeries> series;
};

struct ScriptCommand {
  int line = 0;  // From 1.
  std::variant<LoadCommand, ClearCommand, EvalCommand> command;
};

// kInvalidArgument: "12: what is wrong", with the line's number.
absl::StatusOr<std::vector<ScriptCommand>> ParseScript(std::string_view text);

}  // namespace narthex::tool
