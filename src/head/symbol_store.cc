#include "head/symbol_store.h"

#include <cstring>

#include "head/hash.h"
#include "narthex/base/check.h"

namespace narthex::head {

std::string_view SymbolStore::Text(model::Symbol symbol) const {
  const uint32_t where = offsets_[symbol];
  const uint8_t* at = pages_[where / kPageBytes] + where % kPageBytes;
  size_t size = 0;
  int shift = 0;
  for (; (*at & 0x80) != 0; ++at, shift += 7) size |= static_cast<size_t>(*at & 0x7f) << shift;
  size |= static_cast<size_t>(*at) << shift;
  return {reinterpret_cast<const char*>(at + 1), size};
}

size_t SymbolStore::SlotOf(std::string_view text) const {
  size_t slot = ScaleHash(HashBytes(text), slots_.size());
  while (slots_[slot] != 0 && Text(slots_[slot] - 1) != text) {
    if (++slot == slots_.size()) slot = 0;
  }
  return slot;
}

std::optional<model::Symbol> SymbolStore::Find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  const uint32_t found = slots_[SlotOf(text)];
  if (found == 0) return std::nullopt;
  return found - 1;
}

void SymbolStore::Rehash(size_t num_slots) {
  slots_.assign(num_slots, 0);
  slots_.shrink_to_fit();
  for (uint32_t symbol = 0; symbol < offsets_.size(); ++symbol) {
    slots_[SlotOf(Text(symbol))] = symbol + 1;
  }
}

model::Symbol SymbolStore::Intern(std::string_view text) {
  if ((offsets_.size() + 1) * 8 > slots_.size() * 6) Rehash(slots_.size() * 5 / 4 + 64);
  const size_t slot = SlotOf(text);
  if (slots_[slot] != 0) return slots_[slot] - 1;

  uint8_t head[10];
  size_t head_size = 0;
  size_t rest = text.size();
  for (; rest >= 0x80; rest >>= 7) head[head_size++] = static_cast<uint8_t>(rest | 0x80);
  head[head_size++] = static_cast<uint8_t>(rest);

  const size_t need = head_size + text.size();
  const bool alone = need > kPageBytes / 4;
  if (alone || page_used_ + need > kPageBytes) {
    const size_t bytes = alone ? need : kPageBytes;
    owned_.push_back(std::make_unique_for_overwrite<uint8_t[]>(bytes));
    pages_[pages_.Grow()] = owned_.back().get();
    page_bytes_ += bytes + sizeof(owned_[0]);
    page_ = owned_.back().get();
    page_used_ = 0;
  }
  uint8_t* const at = page_ + page_used_;
  std::memcpy(at, head, head_size);
  if (!text.empty()) std::memcpy(at + head_size, text.data(), text.size());
  NX_CHECK_LT(pages_.size(), size_t{1} << 17);
  const auto where = static_cast<uint32_t>((pages_.size() - 1) * kPageBytes + page_used_);
  // A text alone on its page leaves no room behind it.
  page_used_ = alone ? kPageBytes : page_used_ + need;
  const size_t symbol = offsets_.Grow();
  NX_CHECK_LT(symbol, size_t{model::kOverlayBit});
  offsets_[symbol] = where;
  slots_[slot] = static_cast<uint32_t>(symbol) + 1;
  return static_cast<model::Symbol>(symbol);
}

uint64_t SymbolStore::num_bytes() const {
  return offsets_.num_bytes() + pages_.num_bytes() + page_bytes_ + slots_.capacity() * 4;
}

}  // namespace narthex::head
