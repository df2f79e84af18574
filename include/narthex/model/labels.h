// Label sets as text: the write side's form. A Labels is an immutable value: pairs sorted bytewise
// by name, names unique, no empty values, packed into one string.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace narthex::model {

inline constexpr std::string_view kMetricName = "__name__";
inline constexpr std::string_view kBucketLabel = "le";
inline constexpr std::string_view kQuantileLabel = "quantile";

// One label; views into memory that someone else owns.
struct Label {
  std::string_view name;
  std::string_view value;
  bool operator==(const Label&) const = default;
};

class Labels {
 public:
  Labels() = default;
  // Sorts `pairs` and drops those with an empty value. Of a repeated name the last one wins.
  static Labels FromPairs(std::vector<Label> pairs);

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  // Valid as long as this object is neither changed nor moved.
  Label operator[](size_t index) const {
    const Entry& entry = entries_[index];
    return {std::string_view(text_).substr(entry.offset, entry.name_size),
            std::string_view(text_).substr(entry.offset + entry.name_size, entry.value_size)};
  }
  // Value of `name`, "" if absent.
  std::string_view Get(std::string_view name) const;
  bool Has(std::string_view name) const;

  // All labels as views, sorted; valid as operator[].
  std::vector<Label> Views() const;

  // A hash of names and values (xxh3); stable within a process only.
  uint64_t Hash() const;

  // {a="b", c="d"}; the metric name is written like any label. Values are Go-quoted.
  std::string ToString() const;

  bool operator==(const Labels& other) const;
  // Prometheus's order: pair by pair, name before value; a prefix is smaller.
  std::strong_ordering operator<=>(const Labels& other) const;

 private:
  friend class LabelsBuilder;
  struct Entry {
    uint32_t offset;
    uint32_t name_size;
    uint32_t value_size;
  };
  std::string text_;
  std::vector<Entry> entries_;
};

// Collects changes and builds a Labels. Thread-compatible; reuse one for many sets.
class LabelsBuilder {
 public:
  LabelsBuilder() = default;
  explicit LabelsBuilder(const Labels& base) { Reset(base); }

  void Reset();
  void Reset(const Labels& base);
  // Setting "" deletes, but Mentions() remembers. Copies both texts.
  LabelsBuilder& Set(std::string_view name, std::string_view value);
  LabelsBuilder& Delete(std::string_view name);
  // "" if absent. Valid until the next change.
  std::string_view Get(std::string_view name) const;
  // Whether the name was set since the last Reset() or Delete() of it, be it to "".
  bool Mentions(std::string_view name) const;
  Labels Build() const;
  // Names and values now set, in no particular order; valid until the next change.
  std::vector<Label> Current() const;

 private:
  std::vector<std::pair<std::string, std::string>>
      pairs_;  // Unordered, unique names; "" values too.
};

// Rules of names. Legacy: [a-zA-Z_:][a-zA-Z0-9_:]* for metrics, the same without ':' for labels.
// UTF-8: any non-empty valid UTF-8.
enum class NameValidation : uint8_t { kUtf8, kLegacy };
bool IsValidMetricName(std::string_view name, NameValidation validation);
bool IsValidLabelName(std::string_view name, NameValidation validation);
bool IsValidUtf8(std::string_view text);

// Appends `text` in Go's strconv.Quote form.
void AppendQuoted(std::string* out, std::string_view text);

}  // namespace narthex::model
