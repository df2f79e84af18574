#include "head/postings.h"

#include <algorithm>
#include <memory>

#include "head/chain.h"
#include "head/varint.h"
#include "narthex/base/check.h"

namespace narthex::head {

using model::Symbol;

size_t Postings::SlotOf(const std::vector<Slot>& slots, Symbol value) {
  // Fibonacci hashing spreads the dense symbol numbers over a table of any size.
  const uint64_t hash = value * uint64_t{0x9e3779b97f4a7c15};
  size_t slot = static_cast<size_t>(((hash >> 32) * slots.size()) >> 32);
  while (slots[slot].payload != kFree && slots[slot].value != value) {
    if (++slot == slots.size()) slot = 0;
  }
  return slot;
}

const Postings::Slot* Postings::Find(Symbol name, Symbol value) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return nullptr;
  const std::vector<Slot>& slots = found->second.slots;
  const Slot& slot = slots[SlotOf(slots, value)];
  return slot.payload == kFree ? nullptr : &slot;
}

Postings::Slot* Postings::FindOrAdd(Name* name, Symbol value) {
  if (!name->slots.empty()) {
    Slot& slot = name->slots[SlotOf(name->slots, value)];
    if (slot.payload != kFree) return &slot;
  }
  if ((name->used + 1) * 10 > name->slots.size() * 8) {
    std::vector<Slot> grown(name->slots.size() + name->slots.size() / 4 + 3);
    slots_bytes_ += (grown.capacity() - name->slots.capacity()) * sizeof(Slot);
    for (const Slot& slot : name->slots) {
      if (slot.payload != kFree) grown[SlotOf(grown, slot.value)] = slot;
    }
    name->slots = std::move(grown);
  }
  ++name->used;
  ++num_pairs_;
  Slot& slot = name->slots[SlotOf(name->slots, value)];
  slot.value = value;
  return &slot;
}

void Postings::WriteToken(List* list, uint64_t token) {
  uint8_t buffer[kMaxVarint64];
  uint8_t* end = buffer;
  WriteVarint64(&end, token);
  const auto count = static_cast<uint32_t>(end - buffer);
  list->bytes = AppendToChain(&arena_, list->bytes, list->size, buffer, count);
  list->size += count;
}

void Postings::Append(List* list, SeriesIndex series) {
  const uint32_t gap = series - list->last;
  NX_CHECK(gap > 0 || list->count == 0);
  if (list->count > 0 && series < list->last) list->sorted = false;
  if (gap == 1 && list->count > 0) {
    ++list->run;
  } else {
    if (list->run > 0) WriteToken(list, uint64_t{list->run - 1} << 1 | 1);
    list->run = 0;
    // The first series is written as if series -1 were before it.
    WriteToken(list, uint64_t{list->count == 0 ? series : gap - 1} << 1);
  }
  list->last = series;
  ++list->count;
}

void Postings::Add(Symbol name, Symbol value, SeriesIndex series) {
  NX_CHECK_LT(series, kListBit);
  Slot* const slot = FindOrAdd(&names_[name], value);
  if (slot->payload == kFree) {
    slot->payload = series;
    return;
  }
  if ((slot->payload & kListBit) == 0) {
    const auto index = static_cast<uint32_t>(lists_.Grow());
    Append(&lists_[index], slot->payload);
    slot->payload = index | kListBit;
  }
  Append(&lists_[slot->payload & ~kListBit], series);
}

uint32_t Postings::Count(Symbol name, Symbol value) const {
  const Slot* const slot = Find(name, value);
  if (slot == nullptr) return 0;
  return (slot->payload & kListBit) == 0 ? 1 : lists_[slot->payload & ~kListBit].count;
}

void Postings::DecodeList(const List& list, std::vector<SeriesIndex>* out) const {
  SeriesIndex last = 0xffffffff;
  const auto tokens = std::make_unique_for_overwrite<uint8_t[]>(list.size);
  ReadChain(arena_, list.bytes, list.size, tokens.get());
  const uint8_t* at = tokens.get();
  const uint8_t* const end = at + list.size;
  const auto run = [&](uint32_t length) {
    for (; length > 0; --length) out->push_back(++last);
  };
  const auto first = static_cast<std::ptrdiff_t>(out->size());
  out->reserve(out->size() + list.count);
  while (at < end) {
    const uint64_t token = ReadVarint64(&at);
    if ((token & 1) != 0) {
      run(static_cast<uint32_t>(token >> 1) + 1);
    } else {
      last += static_cast<uint32_t>(token >> 1) + 1;
      out->push_back(last);
    }
  }
  run(list.run);
  if (!list.sorted) std::sort(out->begin() + first, out->end());
}

void Postings::Decode(Symbol name, Symbol value, std::vector<SeriesIndex>* out) const {
  const Slot* const slot = Find(name, value);
  if (slot == nullptr) return;
  if ((slot->payload & kListBit) == 0) {
    out->push_back(slot->payload);
  } else {
    DecodeList(lists_[slot->payload & ~kListBit], out);
  }
}

void Postings::ForEachValue(Symbol name, const std::function<void(Symbol, uint32_t)>& visit) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return;
  for (const Slot& slot : found->second.slots) {
    if (slot.payload == kFree) continue;
    visit(slot.value, (slot.payload & kListBit) == 0 ? 1 : lists_[slot.payload & ~kListBit].count);
  }
}

void Postings::ForEachName(const std::function<void(Symbol, uint32_t)>& visit) const {
  for (const auto& [name, values] : names_) visit(name, values.used);
}

uint64_t Postings::num_bytes() const {
  // A node of the map: its pair, the next pointer; and a bucket pointer each.
  const uint64_t per_name = sizeof(std::pair<const Symbol, Name>) + 3 * sizeof(void*);
  return names_.size() * per_name + lists_.num_bytes() + arena_.num_bytes() + slots_bytes_;
}

}  // namespace narthex::head
