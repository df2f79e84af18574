// Prometheus text format 0.0.4 and 1.0.0.
//
//   # TYPE http_requests_total counter
//   http_requests_total{method="post",code="200"} 1027 1395066363000
//   {"name with spaces",label="value"} 3
#include <optional>

#include "codec/exposition/readers.h"
#include "codec/exposition/sample_labels.h"
#include "codec/exposition/text_arena.h"
#include "codec/exposition/text_lexer.h"
#include "codec/exposition/text_value.h"
#include "narthex/base/status.h"

namespace narthex::codec {
namespace {

std::optional<model::MetricType> TypeOfText(std::string_view text) {
  if (text == "counter") return model::MetricType::kCounter;
  if (text == "gauge") return model::MetricType::kGauge;
  if (text == "histogram") return model::MetricType::kHistogram;
  if (text == "summary") return model::MetricType::kSummary;
  if (text == "untyped") return model::MetricType::kUnknown;
  return std::nullopt;
}

// Thread-compatible.
class TextReader final : public ExpositionReader {
 public:
  TextReader(std::string_view body, const ReaderOptions& options)
      : options_(options),
        owned_body_(body.ends_with('\n') ? "" : base::StrCat(body, "\n")),
        lexer_(body.ends_with('\n') ? body : std::string_view(owned_body_)),
        labels_(LabelEscapes::kText) {}

  bool NextBatch(EntryBatch* batch) override {
    batch->entries.clear();
    batch->exemplars.clear();
    labels_.Reset();
    arena_.Reset();
    while (!done_ && batch->entries.size() < kMaxBatchEntries &&
           arena_.num_bytes() < kMaxBatchBytes) {
      status_ = ReadLine(batch);
      if (!status_.ok()) done_ = true;
    }
    // What came before an error is handed out first.
    return !batch->entries.empty();
  }

  absl::Status status() const override { return status_; }

  absl::Status Labels(const Entry& entry, model::LabelsBuilder* out) const override {
    return labels_.Build(entry.labels_index, options_.type_and_unit_labels, out);
  }

 private:
  const TextCursor& cursor() const { return lexer_.cursor(); }
  absl::Status Unexpected(std::string_view expected, Token got) const {
    return SyntaxError(cursor(), line_start_, expected, got);
  }

  // Reads up to the end of one line and adds at most one entry.
  absl::Status ReadLine(EntryBatch* batch) {
    line_start_ = cursor().position;
    const Token token = lexer_.Next();
    switch (token) {
      case Token::kEof:
        done_ = true;
        return absl::OkStatus();
      case Token::kLinebreak:
        return absl::OkStatus();
      case Token::kHelp:
      case Token::kType:
        return ReadMetadata(token, batch);
      case Token::kComment:
        if (const Token next = lexer_.Next(); next != Token::kLinebreak) {
          return Unexpected("linebreak expected after comment", next);
        }
        return absl::OkStatus();
      case Token::kBraceOpen:
      case Token::kMetricName:
        return ReadSample(token, batch);
      default:
        return Unexpected("expected a valid start token", token);
    }
  }

  absl::Status ReadMetadata(Token keyword, EntryBatch* batch) {
    if (const Token next = lexer_.Next(); next != Token::kMetricName) {
      return Unexpected(base::StrCat("expected metric name after ", TokenName(keyword)), next);
    }
    std::string_view name = cursor().token();
    if (name.front() == '"') name = name.substr(1, name.size() - 2);
    if (const Token next = lexer_.Next(); next != Token::kText) {
      return base::InvalidArgument("expected text in ", TokenName(keyword), ", got ",
                                   TokenName(next));
    }
    std::string_view text = cursor().token();
    if (!text.empty()) text.remove_prefix(1);
    Entry entry;
    entry.name = name;
    if (keyword == Token::kType) {
      const std::optional<model::MetricType> type = TypeOfText(text);
      if (!type.has_value()) return QuotedError("invalid metric type ", text);
      type_ = *type;
      entry.kind = EntryKind::kType;
      entry.type = type_;
    } else {
      if (!model::IsValidUtf8(text)) {
        return QuotedError("help text ", text, " is not a valid utf8 string");
      }
      entry.kind = EntryKind::kHelp;
      const bool has_escapes = text.find('\\') != std::string_view::npos;
      entry.text = has_escapes ? arena_.Copy(UnescapeHelp(text)) : text;
    }
    if (const Token next = lexer_.Next(); next != Token::kLinebreak) {
      return Unexpected("linebreak expected after metadata", next);
    }
    batch->entries.push_back(entry);
    return absl::OkStatus();
  }

  absl::Status ReadSample(Token token, EntryBatch* batch) {
    std::optional<std::string_view> name;
    // Blanks before a name are part of it, as in Prometheus.
    if (token == Token::kMetricName) name = cursor().Since(line_start_);
    std::string_view series = cursor().Since(line_start_);
    if (token == Token::kMetricName) token = lexer_.Next();
    if (token == Token::kBraceOpen) {
      NX_RETURN_IF_ERROR(ReadLabels(&name));
      series = cursor().Since(line_start_);
      token = lexer_.Next();
    }
    if (!name.has_value()) {
      return ErrorWhileParsing(cursor(), line_start_, "metric name not set");
    }
    Entry entry;
    NX_RETURN_IF_ERROR(ReadValueAndTime(token, &entry));
    entry.name =
        name->find('\\') == std::string_view::npos ? *name : arena_.Copy(UnescapeLabel(*name));
    entry.series_key = series;
    entry.labels_index = labels_.AddSample({labels_.CloseRange(), *name, type_, /*unit=*/{}});
    batch->entries.push_back(entry);
    return absl::OkStatus();
  }

  // Reads up to the closing brace. A quoted text without a value is the metric's name.
  absl::Status ReadLabels(std::optional<std::string_view>* name) {
    Token token = lexer_.Next();
    while (token != Token::kBraceClose) {
      if (token != Token::kLabelName && token != Token::kQuotedName) {
        return Unexpected("expected label name", token);
      }
      const bool is_quoted = token == Token::kQuotedName;
      std::string_view label = cursor().token();
      if (is_quoted) label = label.substr(1, label.size() - 2);
      token = lexer_.Next();
      if (is_quoted && (token == Token::kComma || token == Token::kBraceClose)) {
        if (name->has_value()) {
          return ErrorWhileParsing(cursor(), line_start_, "metric name already set");
        }
        *name = label;
        if (token == Token::kComma) token = lexer_.Next();
        continue;
      }
      if (token != Token::kEqual) return Unexpected("expected equal", token);
      token = lexer_.Next();
      if (token != Token::kLabelValue) return Unexpected("expected label value", token);
      const std::string_view value = cursor().token();
      if (cursor().saw_non_ascii && !model::IsValidUtf8(value)) {
        return QuotedError("invalid UTF-8 label value: ", value);
      }
      labels_.Add(label, value.substr(1, value.size() - 2));
      // Commas between labels are optional.
      token = lexer_.Next();
      if (token == Token::kComma) token = lexer_.Next();
    }
    return absl::OkStatus();
  }

  absl::Status ReadValueAndTime(Token token, Entry* entry) {
    if (token != Token::kValue) return Unexpected("expected value after metric", token);
    if (const NumberError error = ParseSampleValue(cursor().token(), &entry->value);
        error != NumberError::kNone) [[unlikely]] {
      return ErrorWhileParsing(cursor(), line_start_,
                               NumberErrorText(error, "ParseFloat", cursor().token()));
    }
    token = lexer_.Next();
    if (token == Token::kLinebreak) return absl::OkStatus();
    if (token != Token::kTimestamp) {
      return Unexpected("expected timestamp or new record", token);
    }
    entry->has_time = true;
    if (const NumberError error = ParseTimeMs(cursor().token(), &entry->time_ms);
        error != NumberError::kNone) {
      return ErrorWhileParsing(cursor(), line_start_,
                               NumberErrorText(error, "ParseInt", cursor().token()));
    }
    token = lexer_.Next();
    if (token != Token::kLinebreak) {
      return Unexpected("expected next entry after timestamp", token);
    }
    return absl::OkStatus();
  }

  const ReaderOptions options_;
  const std::string owned_body_;  // Set only if the body lacks the last newline.
  TextLexer lexer_;
  SampleLabels labels_;
  TextArena arena_;
  model::MetricType type_ = model::MetricType::kUnknown;  // Of the last TYPE line.
  const char* line_start_ = nullptr;
  bool done_ = false;
  absl::Status status_;
};

}  // namespace

std::unique_ptr<ExpositionReader> NewTextReader(std::string_view body,
                                                const ReaderOptions& options) {
  return std::make_unique<TextReader>(body, options);
}

}  // namespace narthex::codec
