#include "server/api/series_api.h"

#include <algorithm>
#include <charconv>

#include "narthex/base/status.h"
#include "narthex/model/labels.h"
#include "server/api/result_json.h"

namespace narthex::server {
namespace {

using Selectors = std::vector<std::vector<model::Matcher>>;

struct SearchParams {
  model::TimeRange range;
  size_t limit = 0;
  Selectors selectors;
};

absl::StatusOr<SearchParams> ReadSearch(const Params& params) {
  SearchParams out;
  NX_ASSIGN_OR_RETURN(out.limit, params.Limit("limit"));
  NX_ASSIGN_OR_RETURN(out.range.min_time_ms, params.TimeMs("start", kMinTimeMs));
  NX_ASSIGN_OR_RETURN(out.range.max_time_ms, params.TimeMs("end", kMaxTimeMs));
  NX_ASSIGN_OR_RETURN(out.selectors, params.Selectors());
  return out;
}

// One more than the limit is asked for, so that a cut can be told.
size_t Probe(size_t limit) { return limit == 0 ? 0 : limit + 1; }

std::vector<std::string> CutTo(std::vector<std::string>* texts, size_t limit) {
  if (limit == 0 || texts->size() <= limit) return {};
  texts->resize(limit);
  return {"results truncated due to limit"};
}

void SendTexts(const std::vector<std::string>& texts, const std::vector<std::string>& warnings,
               Writer writer) {
  DataResponse response(std::move(writer));
  response.json().BeginArray();
  for (const std::string& text : texts) {
    response.json().String(text);
    if (!response.FlushIfLarge()) break;
  }
  response.json().EndArray();
  response.Finish(warnings);
}

// The sorted union over all selectors of what `read(matchers)` gives.
template <typename Read>
absl::StatusOr<std::vector<std::string>> UnionOf(const Selectors& selectors, Read read) {
  if (selectors.empty()) return read(std::span<const model::Matcher>());
  std::vector<std::string> out;
  for (const auto& matchers : selectors) {
    NX_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                        read(std::span<const model::Matcher>(matchers)));
    std::vector<std::string> merged;
    std::set_union(out.begin(), out.end(), texts.begin(), texts.end(), std::back_inserter(merged));
    out = std::move(merged);
  }
  return out;
}

// Label sets in Prometheus's order: by texts, pair by pair.
bool Less(std::span<const model::SymbolLabel> a, std::span<const model::SymbolLabel> b,
          const model::SymbolTable& symbols) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].name != b[i].name) return symbols.Text(a[i].name) < symbols.Text(b[i].name);
    if (a[i].value != b[i].value) return symbols.Text(a[i].value) < symbols.Text(b[i].value);
  }
  return a.size() < b.size();
}

}  // namespace

void HandleSeries(const Params& params, const model::Queryable& queryable, Writer writer) {
  const auto search = ReadSearch(params);
  if (!search.ok()) return SendError(writer, search.status());
  if (search->selectors.empty()) {
    return SendError(writer, base::InvalidArgument("no match[] parameter provided"));
  }
  const auto querier = queryable.NewQuerier(search->range);
  if (!querier.ok()) return SendError(writer, querier.status());
  std::vector<std::vector<model::SymbolLabel>> sets;
  model::SelectHints hints;
  hints.range = search->range;
  hints.function = "series";
  hints.limit = Probe(search->limit);
  for (const auto& matchers : search->selectors) {
    const auto selection = (*querier)->Select(matchers, hints);
    if (!selection.ok()) return SendError(writer, selection.status());
    for (size_t i = 0; i < (*selection)->size(); ++i) {
      (*selection)->AppendLabels(i, &sets.emplace_back());
    }
  }
  const model::SymbolTable& symbols = (*querier)->symbols();
  std::sort(sets.begin(), sets.end(),
            [&symbols](const auto& a, const auto& b) { return Less(a, b, symbols); });
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  std::vector<std::string> warnings;
  if (search->limit != 0 && sets.size() > search->limit) {
    sets.resize(search->limit);
    warnings.push_back("results truncated due to limit");
  }
  DataResponse response(std::move(writer));
  response.json().BeginArray();
  for (const auto& labels : sets) {
    WriteLabels(labels, symbols, &response.json());
    if (!response.FlushIfLarge()) break;
  }
  response.json().EndArray();
  response.Finish(warnings);
}

void HandleLabels(const Params& params, const model::Queryable& queryable, Writer writer) {
  const auto search = ReadSearch(params);
  if (!search.ok()) return SendError(writer, search.status());
  const auto querier = queryable.NewQuerier(search->range);
  if (!querier.ok()) return SendError(writer, querier.status());
  auto names = UnionOf(search->selectors, [&](std::span<const model::Matcher> matchers) {
    return (*querier)->LabelNames(matchers, Probe(search->limit));
  });
  if (!names.ok()) return SendError(writer, names.status());
  const std::vector<std::string> warnings = CutTo(&*names, search->limit);
  SendTexts(*names, warnings, std::move(writer));
}

void HandleLabelValues(std::string_view raw_name, const Params& params,
                       const model::Queryable& queryable, Writer writer) {
  const std::string name = UnescapeLabelName(raw_name);
  if (!model::IsValidLabelName(name, model::NameValidation::kUtf8)) {
    return SendError(writer, base::InvalidArgument("invalid label name: \"", name, "\""));
  }
  const auto search = ReadSearch(params);
  if (!search.ok()) return SendError(writer, search.status());
  const auto querier = queryable.NewQuerier(search->range);
  if (!querier.ok()) return SendError(writer, querier.status());
  auto values = UnionOf(search->selectors, [&](std::span<const model::Matcher> matchers) {
    return (*querier)->LabelValues(name, matchers, Probe(search->limit));
  });
  if (!values.ok()) return SendError(writer, values.status());
  const std::vector<std::string> warnings = CutTo(&*values, search->limit);
  SendTexts(*values, warnings, std::move(writer));
}

namespace {

// Appends a code point as UTF-8; false if it is none.
bool AppendCodePoint(uint32_t code, std::string* out) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  const auto push = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    push(code);
  } else if (code < 0x800) {
    push(0xc0 | code >> 6);
    push(0x80 | (code & 63));
  } else if (code < 0x10000) {
    push(0xe0 | code >> 12);
    push(0x80 | (code >> 6 & 63));
    push(0x80 | (code & 63));
  } else {
    push(0xf0 | code >> 18);
    push(0x80 | (code >> 12 & 63));
    push(0x80 | (code >> 6 & 63));
    push(0x80 | (code & 63));
  }
  return true;
}

}  // namespace

std::string UnescapeLabelName(std::string_view name) {
  if (name.substr(0, 3) != "U__") return std::string(name);
  std::string out;
  for (std::string_view rest = name.substr(3); !rest.empty();) {
    if (rest[0] != '_') {
      out += rest[0];
      rest.remove_prefix(1);
      continue;
    }
    if (rest.substr(0, 2) == "__") {
      out += '_';
      rest.remove_prefix(2);
      continue;
    }
    // "_2e_": a code point in hexadecimal digits.
    const size_t end = rest.find('_', 1);
    uint32_t code = 0;
    if (end == std::string_view::npos || end == 1 || end > 7) return std::string(name);
    const auto result = std::from_chars(rest.data() + 1, rest.data() + end, code, 16);
    if (result.ptr != rest.data() + end || !AppendCodePoint(code, &out)) return std::string(name);
    rest.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace narthex::server
