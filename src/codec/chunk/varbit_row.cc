#include "codec/chunk/varbit_row.h"

namespace narthex::codec {

void ReadVarbits(BitReader& reader_in_out, std::span<int64_t> out) {
  BitReader reader = reader_in_out;
  for (int64_t& number : out) number = ReadVarbitSigned(reader);
  reader_in_out = reader;
}

void SkipVarbits(BitReader& reader_in_out, size_t count) {
  BitReader reader = reader_in_out;
  for (; count > 0; --count) ReadVarbitSigned(reader);
  reader_in_out = reader;
}

void AddRow(std::span<const int64_t> row, std::span<uint64_t> deltas, std::span<int64_t> buckets) {
  for (size_t i = 0; i < row.size(); ++i) {
    deltas[i] += static_cast<uint64_t>(row[i]);
    buckets[i] = static_cast<int64_t>(static_cast<uint64_t>(buckets[i]) + deltas[i]);
  }
}

}  // namespace narthex::codec
