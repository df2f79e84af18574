// OpenMetrics text, line by line. Thread-compatible; a copy goes on from the same place, which is
// how readers look ahead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "codec/exposition/open_metrics_lexer.h"
#include "narthex/codec/exposition/reader.h"
#include "narthex/model/labels.h"
#include "narthex/model/metadata.h"

namespace narthex::codec {

// One line of metadata or one sample. Views into the body, escapes not resolved.
struct OpenMetricsLine {
  EntryKind kind = EntryKind::kFloat;
  std::string_view name;
  std::string_view text;    // Of HELP and UNIT.
  std::string_view series;  // Name and labels as they stand.
  std::vector<model::Label> labels;
  double value = 0;
  bool has_time = false;
  int64_t time_ms = 0;
  bool has_exemplar = false;
  std::vector<model::Label> exemplar_labels;
  double exemplar_value = 0;
  bool exemplar_has_time = false;
  int64_t exemplar_time_ms = 0;
};

enum class Exemplars : uint8_t { kRead, kSkip };

class OpenMetricsParser {
 public:
  // `body` outlives this.
  explicit OpenMetricsParser(std::string_view body) : lexer_(body) {}

  enum class Result : uint8_t { kLine, kEnd, kError };
  Result Next(Exemplars exemplars);

  // REQUIRES: the last Next() returned kLine.
  const OpenMetricsLine& line() const { return line_; }
  // Why the last Next() returned kError.
  const absl::Status& status() const { return status_; }

  // Of the metadata lines so far: the last TYPE, the last UNIT, and the last name's size.
  model::MetricType type() const { return type_; }
  std::string_view unit() const { return unit_; }
  size_t family_name_size() const { return family_name_size_; }

  // Of the last line, and where the next one begins.
  const char* line_start() const { return line_start_; }
  const char* position() const { return lexer_.cursor().position; }
  const char* end() const { return lexer_.cursor().end; }

 private:
  const TextCursor& cursor() const { return lexer_.cursor(); }
  absl::Status Unexpected(std::string_view expected, Token got) const;
  absl::Status ReadMetadata(Token keyword);
  absl::Status ReadUnit();
  absl::Status ReadSample(Token token, Exemplars exemplars);
  absl::Status ReadLabels(std::vector<model::Label>* labels, bool is_exemplar);
  absl::Status ReadLabel(Token token, bool is_exemplar, Token* next,
                         std::vector<model::Label>* labels);
  absl::Status ReadEndOfLine(Token token, Exemplars exemplars);
  absl::Status ReadExemplar();
  absl::Status SkipExemplar();
  absl::Status ReadValue(Token token, std::string_view after, double* value);
  absl::Status ReadTime(std::string_view what, int64_t* time_ms);

  OpenMetricsLexer lexer_;
  OpenMetricsLine line_;
  absl::Status status_;
  const char* line_start_ = nullptr;
  bool has_name_ = false;  // The sample being read has its name.
  model::MetricType type_ = model::MetricType::kUnknown;
  std::string_view unit_;
  size_t family_name_size_ = 0;
};

}  // namespace narthex::codec
