// Which format an Accept header asks for. Clauses are looked at by weight, as client_golang does:
// the first one that names protobuf or plain text decides; `*/*` decides nothing. OpenMetrics is
// answered to those who name it and neither of the two.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

#include "narthex/base/strings.h"
#include "narthex/codec/exposition/writer.h"

namespace narthex::codec {
namespace {

struct Clause {
  std::string_view type;  // "text/plain"
  std::string_view proto, encoding, version, escaping;
  double weight = 1;
};

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes the part up to the next `separator`, without blanks around it.
std::string_view TakePart(std::string_view* text, char separator) {
  const size_t size = std::min(text->find(separator), text->size());
  const std::string_view part = Trim(text->substr(0, size));
  text->remove_prefix(std::min(size + 1, text->size()));
  return part;
}

std::string_view WithoutQuotes(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

Clause ParseClause(std::string_view text) {
  Clause clause;
  clause.type = TakePart(&text, ';');
  while (!text.empty()) {
    std::string_view parameter = TakePart(&text, ';');
    const std::string_view name = TakePart(&parameter, '=');
    const std::string_view value = WithoutQuotes(Trim(parameter));
    if (name == "proto") clause.proto = value;
    if (name == "encoding") clause.encoding = value;
    if (name == "version") clause.version = value;
    if (name == "escaping") clause.escaping = value;
    if (name == "q") {
      double weight = 1;
      std::from_chars(value.data(), value.data() + value.size(), weight);
      clause.weight = weight;
    }
  }
  return clause;
}

std::vector<Clause> ParseAccept(std::string_view accept) {
  std::vector<Clause> clauses;
  while (!accept.empty()) clauses.push_back(ParseClause(TakePart(&accept, ',')));
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const Clause& a, const Clause& b) { return a.weight > b.weight; });
  return clauses;
}

bool IsEscaping(std::string_view text) {
  return text == "allow-utf-8" || text == "underscores" || text == "dots" || text == "values";
}

std::optional<WriteFormat> FormatOf(const Clause& clause) {
  if (clause.type == "application/vnd.google.protobuf" &&
      clause.proto == "io.prometheus.client.MetricFamily" && clause.encoding == "delimited") {
    return WriteFormat::kProtobufDelimited;
  }
  if (clause.type == "text/plain" && (clause.version.empty() || clause.version == "0.0.4")) {
    return WriteFormat::kText;
  }
  return std::nullopt;
}

bool IsOpenMetrics(const Clause& clause) {
  return clause.type == "application/openmetrics-text" &&
         (clause.version.empty() || clause.version == "0.0.1" || clause.version == "1.0.0");
}

std::string ContentType(WriteFormat format, const Clause* open_metrics, std::string_view escaping) {
  switch (format) {
    case WriteFormat::kProtobufDelimited:
      return base::StrCat(
          "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
          "encoding=delimited; escaping=",
          escaping);
    case WriteFormat::kOpenMetrics:
      return base::StrCat("application/openmetrics-text; version=",
                          open_metrics->version == "1.0.0" ? "1.0.0" : "0.0.1",
                          "; charset=utf-8; escaping=", escaping);
    case WriteFormat::kText:
      break;
  }
  return base::StrCat("text/plain; version=0.0.4; charset=utf-8; escaping=", escaping);
}

}  // namespace

NegotiatedFormat NegotiateFormat(std::string_view accept) {
  // Our names need no escaping, so the scheme is only repeated: the last one asked for before the
  // deciding clause.
  std::string_view escaping = "underscores";
  const Clause* open_metrics = nullptr;
  const std::vector<Clause> clauses = ParseAccept(accept);
  for (const Clause& clause : clauses) {
    if (IsEscaping(clause.escaping)) escaping = clause.escaping;
    if (const auto format = FormatOf(clause)) {
      return {*format, ContentType(*format, nullptr, escaping)};
    }
    if (open_metrics == nullptr && IsOpenMetrics(clause)) open_metrics = &clause;
  }
  const WriteFormat format =
      open_metrics != nullptr ? WriteFormat::kOpenMetrics : WriteFormat::kText;
  return {format, ContentType(format, open_metrics, escaping)};
}

}  // namespace narthex::codec
