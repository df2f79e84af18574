// Postings: ascending refs of series, as they lie in an index or in memory, and matchers resolved
// over them. Everything that has postings, be it a head or a block, selects series through here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/bytes.h"
#include "narthex/model/matcher.h"

namespace narthex::disk {

// Walks a list of big-endian u32 where it lies. Trivially copied; thread-compatible.
class PostingsCursor {
 public:
  PostingsCursor() = default;  // Empty.
  // `bytes` (a multiple of 4) must outlive the cursor.
  explicit PostingsCursor(std::string_view bytes)
      : position_(bytes.data()), end_(bytes.data() + bytes.size() / 4 * 4) {}

  bool done() const { return position_ == end_; }
  // Entries still to come, the current one included.
  size_t num_left() const { return static_cast<size_t>(end_ - position_) / 4; }
  // REQUIRES: !done(); so do the two below.
  uint32_t ref() const { return base::LoadBigEndian<uint32_t>(position_); }
  void Next() { position_ += 4; }
  // Moves to the first entry >= `ref`, in a time that grows with the logarithm of the way.
  void Seek(uint32_t ref);

 private:
  const char* position_ = nullptr;
  const char* end_ = nullptr;
};

// Postings in memory, ascending and unique.
using Refs = std::vector<uint32_t>;

void AppendRefs(PostingsCursor postings, Refs* out);
// Keeps of `*refs` what is in `postings`, or what is not. Costs about the shorter of both.
void Intersect(PostingsCursor postings, Refs* refs);
void Subtract(PostingsCursor postings, Refs* refs);
void Intersect(std::span<const uint32_t> postings, Refs* refs);
void Subtract(std::span<const uint32_t> postings, Refs* refs);
// Sorts what was appended list by list, and drops repeats. `ref_limit` is above every ref.
void MergeLists(uint64_t ref_limit, Refs* refs);

// Who has postings. Thread-safety is the implementation's; Select() below only reads.
class PostingsSource {
 public:
  virtual ~PostingsSource() = default;
  // Above every ref.
  virtual uint64_t ref_limit() const = 0;
  // Shows every value of `name` with the place of its list, which the methods below take. The view
  // is valid during the call.
  using ValueVisitor = std::function<void(std::string_view value, uint64_t place)>;
  virtual absl::Status ForEachValue(std::string_view name, const ValueVisitor& visit) const = 0;
  virtual absl::StatusOr<std::optional<uint64_t>> FindList(std::string_view name,
                                                           std::string_view value) const = 0;
  virtual size_t CountOf(uint64_t place) const = 0;
  virtual absl::Status AppendList(uint64_t place, Refs* out) const = 0;
  virtual absl::Status IntersectList(uint64_t place, Refs* refs) const = 0;
  virtual absl::Status AppendAll(Refs* out) const = 0;
  // Takes away the refs of series whose value of `name` ("" if it has none) is not accepted.
  // `accepts` is asked once a distinct value.
  virtual absl::Status FilterByLabel(std::string_view name,
                                     const std::function<bool(std::string_view)>& accepts,
                                     Refs* refs) const = 0;
};

// The series that match all of `matchers`, ascending; all of them without matchers. A missing label
// has the value "".
absl::StatusOr<Refs> SelectSeries(const PostingsSource& source,
                                  std::span<const model::Matcher> matchers);

}  // namespace narthex::disk
