// Fields have Prometheus's names and order, and are left out where it leaves them out, so that its
// files are written back byte for byte.
#include <algorithm>
#include <limits>
#include <utility>

#include "disk/block/replace_file.h"
#include "narthex/base/status.h"
#include "narthex/disk/block_meta.h"
#include "nlohmann/json.hpp"

namespace narthex::disk {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFileName = "meta.json";
constexpr uint64_t kMaxFileBytes = 64 << 20;
constexpr int64_t kVersion = 1;

// Reads the fields of one object; a missing field keeps its default, a wrong one is remembered.
class Fields {
 public:
  Fields(const Json& object, std::string* fault) : object_(object), fault_(fault) {
    if (!object.is_object() && !object.is_null()) Fail("an object");
  }

  void Read(const char* name, int64_t* out) {
    const Json* const field = Find(name);
    if (field == nullptr) return;
    const bool fits = field->is_number_integer() &&
                      (!field->is_number_unsigned() ||
                       field->get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
    if (!fits) return Fail(name);
    *out = field->get<int64_t>();
  }
  void Read(const char* name, uint64_t* out) {
    const Json* const field = Find(name);
    if (field == nullptr) return;
    if (!field->is_number_unsigned()) return Fail(name);
    *out = field->get<uint64_t>();
  }
  void Read(const char* name, bool* out) {
    const Json* const field = Find(name);
    if (field == nullptr) return;
    if (!field->is_boolean()) return Fail(name);
    *out = field->get<bool>();
  }
  void Read(const char* name, Ulid* out) {
    if (const Json* const field = Find(name); field != nullptr) ReadUlid(*field, name, out);
  }
  void ReadUlid(const Json& field, const char* name, Ulid* out) {
    std::optional<Ulid> ulid;
    if (field.is_string()) ulid = Ulid::Parse(field.get_ref<const std::string&>());
    if (!ulid) return Fail(name);
    *out = *ulid;
  }
  // Calls `read` with each element.
  template <typename Callback>
  void ReadArray(const char* name, Callback read) {
    const Json* const field = Find(name);
    if (field == nullptr) return;
    if (!field->is_array()) return Fail(name);
    for (const Json& element : *field) read(element);
  }
  // The field, or null.
  const Json& Object(const char* name) {
    static const Json kNull;
    const Json* const field = Find(name);
    return field == nullptr ? kNull : *field;
  }
  void Fail(const char* name) {
    if (fault_->empty()) *fault_ = name;
  }

 private:
  const Json* Find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& object_;
  std::string* const fault_;
};

void ReadStats(const Json& json, std::string* fault, BlockStats* stats) {
  Fields fields(json, fault);
  fields.Read("numSamples", &stats->num_samples);
  fields.Read("numFloatSamples", &stats->num_float_samples);
  fields.Read("numHistogramSamples", &stats->num_histogram_samples);
  fields.Read("numSeries", &stats->num_series);
  fields.Read("numChunks", &stats->num_chunks);
  fields.Read("numTombstones", &stats->num_tombstones);
}

void ReadCompaction(const Json& json, std::string* fault, BlockCompaction* compaction) {
  Fields fields(json, fault);
  fields.Read("level", &compaction->level);
  fields.Read("deletable", &compaction->deletable);
  fields.Read("failed", &compaction->failed);
  fields.ReadArray("sources", [&](const Json& element) {
    fields.ReadUlid(element, "sources", &compaction->sources.emplace_back());
  });
  fields.ReadArray("parents", [&](const Json& element) {
    BlockDescription& parent = compaction->parents.emplace_back();
    Fields of_parent(element, fault);
    of_parent.Read("ulid", &parent.ulid);
    of_parent.Read("minTime", &parent.min_time_ms);
    of_parent.Read("maxTime", &parent.max_time_ms);
  });
  fields.ReadArray("hints", [&](const Json& element) {
    if (!element.is_string()) return fields.Fail("hints");
    compaction->hints.push_back(element.get<std::string>());
  });
}

Json FormatStats(const BlockStats& stats) {
  Json json = Json::object();
  const auto add = [&json](const char* name, uint64_t value) {
    if (value != 0) json[name] = value;
  };
  add("numSamples", stats.num_samples);
  add("numFloatSamples", stats.num_float_samples);
  add("numHistogramSamples", stats.num_histogram_samples);
  add("numSeries", stats.num_series);
  add("numChunks", stats.num_chunks);
  add("numTombstones", stats.num_tombstones);
  return json;
}

Json FormatCompaction(const BlockCompaction& compaction) {
  Json json = Json::object();
  json["level"] = compaction.level;
  for (const Ulid& source : compaction.sources) json["sources"].push_back(source.ToString());
  if (compaction.deletable) json["deletable"] = true;
  for (const BlockDescription& parent : compaction.parents) {
    Json one = Json::object();
    one["ulid"] = parent.ulid.ToString();
    one["minTime"] = parent.min_time_ms;
    one["maxTime"] = parent.max_time_ms;
    json["parents"].push_back(std::move(one));
  }
  if (compaction.failed) json["failed"] = true;
  for (const std::string& hint : compaction.hints) json["hints"].push_back(hint);
  return json;
}

}  // namespace

bool BlockCompaction::HasHint(std::string_view hint) const {
  return std::find(hints.begin(), hints.end(), hint) != hints.end();
}

void BlockCompaction::AddHint(std::string_view hint) {
  if (HasHint(hint)) return;
  hints.emplace_back(hint);
  std::sort(hints.begin(), hints.end());
}

absl::StatusOr<BlockMeta> ParseBlockMeta(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return base::DataLoss("no JSON object");
  std::string fault;
  Fields fields(json, &fault);
  int64_t version = 0;
  fields.Read("version", &version);
  if (fault.empty() && version != kVersion) {
    return base::DataLoss("unexpected meta file version ", version);
  }
  BlockMeta meta;
  fields.Read("ulid", &meta.ulid);
  fields.Read("minTime", &meta.min_time_ms);
  fields.Read("maxTime", &meta.max_time_ms);
  ReadStats(fields.Object("stats"), &fault, &meta.stats);
  ReadCompaction(fields.Object("compaction"), &fault, &meta.compaction);
  if (!fault.empty()) return base::DataLoss("bad value: field=", fault);
  // The last millisecond of a block is taken from its end, which must have one before it.
  if (meta.max_time_ms < meta.min_time_ms ||
      meta.max_time_ms == std::numeric_limits<int64_t>::min()) {
    return base::DataLoss("maxTime is before minTime: minTime=", meta.min_time_ms,
                          " maxTime=", meta.max_time_ms);
  }
  return meta;
}

std::string FormatBlockMeta(const BlockMeta& meta) {
  Json json = Json::object();
  json["ulid"] = meta.ulid.ToString();
  json["minTime"] = meta.min_time_ms;
  json["maxTime"] = meta.max_time_ms;
  json["stats"] = FormatStats(meta.stats);
  json["compaction"] = FormatCompaction(meta.compaction);
  json["version"] = kVersion;
  // Hints that are no UTF-8 come from nobody; they must not throw.
  return json.dump(1, '\t', false, Json::error_handler_t::replace);
}

absl::StatusOr<BlockMeta> ReadBlockMeta(base::Fs* fs, const std::string& block_directory) {
  const std::string path = base::StrCat(block_directory, "/", kFileName);
  NX_ASSIGN_OR_RETURN(const uint64_t num_bytes, fs->FileSize(path));
  if (num_bytes > kMaxFileBytes) {
    return base::ResourceExhausted("block meta: file is too long: ", path, " bytes=", num_bytes);
  }
  NX_ASSIGN_OR_RETURN(const std::string text, fs->ReadFile(path));
  absl::StatusOr<BlockMeta> meta = ParseBlockMeta(text);
  if (!meta.ok()) return base::WithContext(meta.status(), base::StrCat("block meta: ", path));
  return meta;
}

absl::Status WriteBlockMeta(base::Fs* fs, const std::string& block_directory,
                            const BlockMeta& meta) {
  return base::WithContext(ReplaceFile(fs, block_directory, kFileName, FormatBlockMeta(meta)),
                           "block meta");
}

}  // namespace narthex::disk
