#include "codec/exposition/open_metrics_parser.h"

#include <cmath>
#include <optional>

#include "codec/exposition/text_value.h"
#include "narthex/base/status.h"

namespace narthex::codec {
namespace {

constexpr std::string_view kNoEof = "data does not end with # EOF";

std::optional<model::MetricType> TypeOfText(std::string_view text) {
  using model::MetricType;
  for (int i = 0; i <= static_cast<int>(MetricType::kStateset); ++i) {
    const MetricType type = static_cast<MetricType>(i);
    if (text == model::MetricTypeName(type)) return type;
  }
  return std::nullopt;
}

std::string_view WithoutQuotes(std::string_view text) {
  return text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

absl::Status OpenMetricsParser::Unexpected(std::string_view expected, Token got) const {
  return SyntaxError(cursor(), line_start_, expected, got);
}

OpenMetricsParser::Result OpenMetricsParser::Next(Exemplars exemplars) {
  line_start_ = position();
  const Token token = lexer_.Next();
  switch (token) {
    case Token::kEofWord:
      if (lexer_.Next() == Token::kEof) return Result::kEnd;
      status_ = base::InvalidArgument("unexpected data after # EOF");
      return Result::kError;
    case Token::kEof:
      status_ = base::InvalidArgument(kNoEof);
      return Result::kError;
    case Token::kHelp:
    case Token::kType:
    case Token::kUnit:
      status_ = ReadMetadata(token);
      break;
    case Token::kBraceOpen:
    case Token::kMetricName:
      status_ = ReadSample(token, exemplars);
      break;
    default:
      status_ = Unexpected("expected a valid start token", token);
      break;
  }
  return status_.ok() ? Result::kLine : Result::kError;
}

absl::Status OpenMetricsParser::ReadMetadata(Token keyword) {
  if (const Token next = lexer_.Next(); next != Token::kMetricName) {
    return Unexpected(base::StrCat("expected metric name after ", TokenName(keyword)), next);
  }
  line_.name = WithoutQuotes(cursor().token());
  family_name_size_ = line_.name.size();
  if (lexer_.Next() != Token::kText) {
    return base::InvalidArgument("expected text in ", TokenName(keyword));
  }
  line_.text = cursor().token().substr(1, cursor().token().size() - 2);
  if (keyword == Token::kUnit) return ReadUnit();
  if (keyword == Token::kHelp) {
    line_.kind = EntryKind::kHelp;
    if (model::IsValidUtf8(line_.text)) return absl::OkStatus();
    return QuotedError("help text ", line_.text, " is not a valid utf8 string");
  }
  line_.kind = EntryKind::kType;
  const std::optional<model::MetricType> type = TypeOfText(line_.text);
  if (!type.has_value()) return QuotedError("invalid metric type ", line_.text);
  type_ = *type;
  return absl::OkStatus();
}

absl::Status OpenMetricsParser::ReadUnit() {
  line_.kind = EntryKind::kUnit;
  unit_ = line_.text;
  const std::string_view name = line_.name;
  const bool is_suffix = name.size() > unit_.size() && name.ends_with(unit_) &&
                         name[name.size() - unit_.size() - 1] == '_';
  if (unit_.empty() || is_suffix) return absl::OkStatus();
  std::string quoted_name;
  model::AppendQuoted(&quoted_name, name);
  return QuotedError("unit ", unit_, base::StrCat(" not a suffix of metric ", quoted_name));
}

absl::Status OpenMetricsParser::ReadSample(Token token, Exemplars exemplars) {
  line_.kind = EntryKind::kFloat;
  line_.labels.clear();
  line_.has_time = false;
  line_.has_exemplar = false;
  has_name_ = token == Token::kMetricName;
  line_.series = cursor().Since(line_start_);
  if (has_name_) {
    line_.name = line_.series;
    token = lexer_.Next();
  }
  if (token == Token::kBraceOpen) {
    NX_RETURN_IF_ERROR(ReadLabels(&line_.labels, /*is_exemplar=*/false));
    line_.series = cursor().Since(line_start_);
    token = lexer_.Next();
  }
  if (!has_name_) return ErrorWhileParsing(cursor(), line_start_, "metric name not set");
  return ReadEndOfLine(token, exemplars);
}

// Reads up to the closing brace.
absl::Status OpenMetricsParser::ReadLabels(std::vector<model::Label>* labels, bool is_exemplar) {
  Token token = lexer_.Next();
  while (token != Token::kBraceClose) {
    NX_RETURN_IF_ERROR(ReadLabel(token, is_exemplar, &token, labels));
  }
  return absl::OkStatus();
}

// Reads one label, or the metric's name: a quoted text without a value. `*next` is the token after
// it and its comma.
absl::Status OpenMetricsParser::ReadLabel(Token token, bool is_exemplar, Token* next,
                                          std::vector<model::Label>* labels) {
  if (token != Token::kLabelName && token != Token::kQuotedName) {
    return Unexpected("expected label name", token);
  }
  const std::string_view name = WithoutQuotes(cursor().token());
  Token after = lexer_.Next();
  const bool ends = after == Token::kComma || after == Token::kBraceClose;
  if (token == Token::kQuotedName && ends) {
    if (is_exemplar) return Unexpected("expected label name", after);
    if (has_name_) {
      return ErrorWhileParsing(cursor(), line_start_, "metric name already set");
    }
    has_name_ = true;
    line_.name = name;
    *next = after == Token::kComma ? lexer_.Next() : after;
    return absl::OkStatus();
  }
  if (after != Token::kEqual) return Unexpected("expected equal", after);
  after = lexer_.Next();
  if (after != Token::kLabelValue) return Unexpected("expected label value", after);
  const std::string_view value = cursor().token();
  if (cursor().saw_non_ascii && !model::IsValidUtf8(value)) {
    return QuotedError("invalid UTF-8 label value: ", value);
  }
  labels->push_back({name, value.substr(1, value.size() - 2)});
  after = lexer_.Next();
  if (after == Token::kComma) {
    after = lexer_.Next();
  } else if (after != Token::kBraceClose) {
    return Unexpected("expected comma or brace close", after);
  }
  *next = after;
  return absl::OkStatus();
}

absl::Status OpenMetricsParser::ReadEndOfLine(Token token, Exemplars exemplars) {
  NX_RETURN_IF_ERROR(ReadValue(token, "metric", &line_.value));
  token = lexer_.Next();
  if (token == Token::kTimestamp) {
    line_.has_time = true;
    NX_RETURN_IF_ERROR(ReadTime("timestamp", &line_.time_ms));
    token = lexer_.Next();
    if (token != Token::kLinebreak && token != Token::kComment) {
      return Unexpected("expected next entry after timestamp", token);
    }
  }
  if (token == Token::kEof) return base::InvalidArgument(kNoEof);
  if (token == Token::kComment) {
    return exemplars == Exemplars::kRead ? ReadExemplar() : SkipExemplar();
  }
  // Anything else than a newline fails as the start of the next line, as in Prometheus.
  return absl::OkStatus();
}

absl::Status OpenMetricsParser::ReadExemplar() {
  line_.has_exemplar = true;
  line_.exemplar_labels.clear();
  line_.exemplar_has_time = false;
  NX_RETURN_IF_ERROR(ReadLabels(&line_.exemplar_labels, /*is_exemplar=*/true));
  NX_RETURN_IF_ERROR(ReadValue(lexer_.Next(), "exemplar labels", &line_.exemplar_value));
  Token token = lexer_.Next();
  switch (token) {
    case Token::kEof:
      return base::InvalidArgument(kNoEof);
    case Token::kLinebreak:
      return absl::OkStatus();
    case Token::kTimestamp:
      line_.exemplar_has_time = true;
      NX_RETURN_IF_ERROR(ReadTime("exemplar timestamp", &line_.exemplar_time_ms));
      token = lexer_.Next();
      if (token == Token::kLinebreak) return absl::OkStatus();
      return Unexpected("expected next entry after exemplar timestamp", token);
    default:
      return Unexpected("expected timestamp or comment", token);
  }
}

absl::Status OpenMetricsParser::SkipExemplar() {
  for (Token token = lexer_.Next(); token != Token::kLinebreak; token = lexer_.Next()) {
    if (token == Token::kEof) return base::InvalidArgument(kNoEof);
    if (token == Token::kInvalid) return Unexpected("expected an exemplar", token);
  }
  return absl::OkStatus();
}

absl::Status OpenMetricsParser::ReadValue(Token token, std::string_view after, double* value) {
  if (token != Token::kValue) {
    return Unexpected(base::StrCat("expected value after ", after), token);
  }
  const std::string_view text = cursor().token().substr(1);
  const NumberError error = ParseSampleValue(text, value);
  if (error == NumberError::kNone) [[likely]]
    return absl::OkStatus();
  return ErrorWhileParsing(cursor(), line_start_, NumberErrorText(error, "ParseFloat", text));
}

absl::Status OpenMetricsParser::ReadTime(std::string_view what, int64_t* time_ms) {
  const std::string_view text = cursor().token().substr(1);
  double seconds = 0;
  if (const NumberError error = ParseSampleValue(text, &seconds); error != NumberError::kNone) {
    return ErrorWhileParsing(cursor(), line_start_, NumberErrorText(error, "ParseFloat", text));
  }
  if (!std::isfinite(seconds)) {
    return base::InvalidArgument("invalid ", what, " ",
                                 std::isnan(seconds) ? "NaN" : (seconds > 0 ? "+Inf" : "-Inf"));
  }
  *time_ms = SecondsToMs(seconds);
  return absl::OkStatus();
}

}  // namespace narthex::codec
