// kDecimal, after the first n (zig-zag LEB128), per value or run; z = zig-zag(n - previous n) - 1:
//
//   00..3f             the previous value 1..64 more times
//   40..bf             z = 0..127
//   c0..df b           z = 128 + 13 bits
//   e0..ef b b         z = 128 + 2^13 + 20 bits
//   f0..f7 b b b       z = 128 + 2^13 + 2^20 + 27 bits
//   f8 8 x b           z in 64 bits, little end first
//   ff                 a stale marker; the previous value stays what it was
//
// kXor, bits from the top of each byte: the first value as 64 bits, then per value against the one
// before: 0 = same; 10 = the differing bits within the last window; 11 + 5 bits leading zeros
// + 6 bits length (64 as 0) + the differing bits, which become the window.
#include "head/float_column.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "head/chain.h"
#include "head/varint.h"
#include "narthex/base/check.h"
#include "narthex/model/stale.h"

namespace narthex::head {
namespace {

constexpr int kMaxScale = 5;
constexpr std::array<double, kMaxScale + 1> kPowers = {1, 10, 100, 1000, 10'000, 100'000};
constexpr double kMaxWhole = 9007199254740991.0;  // 2^53 - 1
constexpr uint8_t kMaxRun = 64;
constexpr uint8_t kTokenOne = 0x40, kTokenTwo = 0xc0, kTokenThree = 0xe0, kTokenFour = 0xf0,
                  kTokenNine = 0xf8, kTokenStale = 0xff;
constexpr uint8_t kNoWindow = 0xff;

// value == n / 10^scale to the bit?
bool ToWhole(double value, int scale, int64_t* n) {
  const double power = kPowers[static_cast<size_t>(scale)];
  const double scaled = std::nearbyint(value * power);
  if (!(std::fabs(scaled) <= kMaxWhole)) return false;
  *n = static_cast<int64_t>(scaled);
  // From the whole number, not from `scaled`, which may be -0.
  return std::bit_cast<uint64_t>(static_cast<double>(*n) / power) == std::bit_cast<uint64_t>(value);
}

double FromWhole(int64_t n, int scale) {
  return static_cast<double>(n) / kPowers[static_cast<size_t>(scale)];
}

// More than any column takes: at most kMaxColumnBytes of tokens, each one change of value, written
// anew as XOR codes, and a bit for each further value.
constexpr size_t kMostColumnBytes = 16 * 1024;

void Put(Arena* arena, Series* series, const uint8_t* bytes, size_t count) {
  NX_CHECK_LE(series->column_size + count, kMostColumnBytes);
  series->column = AppendToChain(arena, series->column, series->column_size, bytes, count);
  series->column_size = static_cast<uint16_t>(series->column_size + count);
}

void PutByte(Arena* arena, Series* series, uint8_t byte) { Put(arena, series, &byte, 1); }

// ---- kDecimal

void StartDecimal(Arena* arena, Series* series, int64_t n, int scale) {
  uint8_t buffer[kMaxVarint64];
  uint8_t* end = buffer;
  WriteVarint64(&end, ZigZag(n));
  series->kind = ColumnKind::kDecimal;
  series->scale = static_cast<uint8_t>(scale);
  series->run = 0;
  Put(arena, series, buffer, static_cast<size_t>(end - buffer));
}

void PutRepeat(Arena* arena, Series* series) {
  if (series->run > 0 && series->run < kMaxRun) {
    *LastOfChain(arena, series->column, series->column_size) = series->run++;
    return;
  }
  PutByte(arena, series, 0);
  series->run = 1;
}

void PutDelta(Arena* arena, Series* series, int64_t delta) {
  series->run = 0;
  const uint64_t full = ZigZag(delta) - 1;
  uint64_t z = full;
  if (z < 128) {
    PutByte(arena, series, static_cast<uint8_t>(kTokenOne + z));
    return;
  }
  uint8_t token[9];
  size_t size = 0;
  const auto put = [&](uint8_t head, uint64_t value, int more) {
    token[size++] = static_cast<uint8_t>(head | value >> (8 * more));
    while (more-- > 0) token[size++] = static_cast<uint8_t>(value >> (8 * more));
  };
  z -= 128;
  if (z < (1u << 13)) {
    put(kTokenTwo, z, 1);
  } else if (z -= 1u << 13; z < (1u << 20)) {
    put(kTokenThree, z, 2);
  } else if (z -= 1u << 20; z < (1u << 27)) {
    put(kTokenFour, z, 3);
  } else {
    token[size++] = kTokenNine;
    for (int i = 0; i < 8; ++i) token[size++] = static_cast<uint8_t>(full >> (8 * i));
  }
  Put(arena, series, token, size);
}

void PutStaleToken(Arena* arena, Series* series) {
  PutByte(arena, series, kTokenStale);
  series->run = 0;
}

// Reads the z of a token that is no run and no stale marker.
uint64_t ReadDelta(uint8_t token, const uint8_t** at) {
  const uint8_t* p = *at;
  if (token < kTokenTwo) return token - uint64_t{kTokenOne};
  if (token < kTokenThree) {
    *at += 1;
    return 128 + ((token & 0x1fu) << 8 | p[0]);
  }
  if (token < kTokenFour) {
    *at += 2;
    return 128 + (1u << 13) + ((token & 0xfu) << 16 | static_cast<uint32_t>(p[0]) << 8 | p[1]);
  }
  if (token < kTokenNine) {
    *at += 3;
    return 128 + (1u << 13) + (1u << 20) +
           ((token & 0x7u) << 24 | static_cast<uint32_t>(p[0]) << 16 |
            static_cast<uint32_t>(p[1]) << 8 | p[2]);
  }
  uint64_t z = 0;
  for (int i = 0; i < 8; ++i) z |= static_cast<uint64_t>(p[i]) << (8 * i);
  *at += 8;
  return z;
}

void DecodeDecimal(const uint8_t* at, const uint8_t* end, int scale, std::vector<double>* out) {
  int64_t n = UnZigZag(ReadVarint64(&at));
  double value = FromWhole(n, scale);
  out->push_back(value);
  while (at < end) {
    const uint8_t token = *at++;
    if (token < kTokenOne) {
      out->insert(out->end(), token + size_t{1}, value);
    } else if (token == kTokenStale) {
      out->push_back(model::StaleNan());
    } else {
      n += UnZigZag(ReadDelta(token, &at) + 1);
      value = FromWhole(n, scale);
      out->push_back(value);
    }
  }
}

// ---- kXor

void PutBits(Arena* arena, Series* series, uint64_t bits, int num_bits) {
  while (num_bits > 0) {
    if (series->free_bits == 0) {
      PutByte(arena, series, 0);
      series->free_bits = 8;
    }
    const int take = num_bits < series->free_bits ? num_bits : series->free_bits;
    const uint64_t part = (bits >> (num_bits - take)) & ((uint64_t{1} << take) - 1);
    uint8_t& last = *LastOfChain(arena, series->column, series->column_size);
    last = static_cast<uint8_t>(last | part << (series->free_bits - take));
    series->free_bits = static_cast<uint8_t>(series->free_bits - take);
    num_bits -= take;
  }
}

void StartXor(Arena* arena, Series* series, double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  series->kind = ColumnKind::kXor;
  series->scale = kNoWindow;
  series->run = 0;
  series->free_bits = 0;
  uint8_t first[sizeof bits];
  std::memcpy(first, &bits, sizeof bits);
  Put(arena, series, first, sizeof first);
  series->set_last_bits(bits);
}

void PutXor(Arena* arena, Series* series, double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t diff = bits ^ series->last_bits();
  series->set_last_bits(bits);
  if (diff == 0) {
    PutBits(arena, series, 0, 1);
    return;
  }
  int leading = std::countl_zero(diff);
  if (leading > 31) leading = 31;
  const int trailing = std::countr_zero(diff);
  if (series->scale != kNoWindow && leading >= series->scale && trailing >= series->run) {
    PutBits(arena, series, 0b10, 2);
    PutBits(arena, series, diff >> series->run, 64 - series->scale - series->run);
    return;
  }
  const int length = 64 - leading - trailing;
  PutBits(arena, series, 0b11, 2);
  PutBits(arena, series, static_cast<uint64_t>(leading), 5);
  PutBits(arena, series, static_cast<uint64_t>(length & 63), 6);
  PutBits(arena, series, diff >> trailing, length);
  series->scale = static_cast<uint8_t>(leading);
  series->run = static_cast<uint8_t>(trailing);
}

class BitReader {
 public:
  BitReader(const uint8_t* at, const uint8_t* end) : at_(at), end_(end) {}
  // REQUIRES: 0 < num_bits <= 64, and as many were written.
  uint64_t Read(int num_bits) {
    if (num_bits > 32) {
      const uint64_t high = Read(num_bits - 32);
      return high << 32 | Read(32);
    }
    while (have_ < num_bits) {
      window_ = window_ << 8 | (at_ < end_ ? *at_++ : 0);
      have_ += 8;
    }
    have_ -= num_bits;
    return (window_ >> have_) & ((uint64_t{1} << num_bits) - 1);
  }

 private:
  const uint8_t* at_;
  const uint8_t* const end_;
  uint64_t window_ = 0;
  int have_ = 0;
};

void DecodeXor(const uint8_t* at, const uint8_t* end, size_t count, std::vector<double>* out) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  out->push_back(std::bit_cast<double>(bits));
  BitReader reader(at + sizeof bits, end);
  int leading = 0;
  int trailing = 0;
  for (size_t i = 1; i < count; ++i) {
    if (reader.Read(1) != 0) {
      if (reader.Read(1) != 0) {
        leading = static_cast<int>(reader.Read(5));
        const int length = static_cast<int>(reader.Read(6));
        trailing = 64 - leading - (length == 0 ? 64 : length);
      }
      bits ^= reader.Read(64 - leading - trailing) << trailing;
    }
    out->push_back(std::bit_cast<double>(bits));
  }
}

// ---- changes of form

// Writes `values` anew as decimals of `scale`; false, nothing changed, if one does not fit.
bool RewriteDecimal(Arena* arena, Series* series, const std::vector<double>& values, int scale) {
  for (const double value : values) {
    int64_t n = 0;
    if (!model::IsStaleNan(value) && !ToWhole(value, scale, &n)) return false;
  }
  if (model::IsStaleNan(values.front())) return false;
  DropFloats(arena, series);
  int64_t last = 0;
  ToWhole(values.front(), scale, &last);
  StartDecimal(arena, series, last, scale);
  for (size_t i = 1; i < values.size(); ++i) {
    if (model::IsStaleNan(values[i])) {
      if (i + 1 == values.size()) {
        series->Set(Series::kStaleTail);
      } else {
        PutStaleToken(arena, series);
      }
      continue;
    }
    int64_t n = 0;
    ToWhole(values[i], scale, &n);
    if (n == last) {
      PutRepeat(arena, series);
    } else {
      PutDelta(arena, series, n - last);
    }
    last = n;
  }
  series->set_last_bits(std::bit_cast<uint64_t>(FromWhole(last, scale)));
  return true;
}

void RewriteXor(Arena* arena, Series* series, const std::vector<double>& values) {
  DropFloats(arena, series);
  StartXor(arena, series, values.front());
  for (size_t i = 1; i < values.size(); ++i) PutXor(arena, series, values[i]);
}

// Slow path: `value` does not fit the form of the `count` values before it.
void ChangeForm(Arena* arena, Series* series, size_t count, double value) {
  std::vector<double> values;
  values.reserve(count + 1);
  DecodeFloats(*arena, *series, count, &values);
  values.push_back(value);
  const int first_scale = series->kind == ColumnKind::kDecimal ? series->scale + 1 : 0;
  for (int scale = first_scale; scale <= kMaxScale; ++scale) {
    int64_t n = 0;
    if (!model::IsStaleNan(value) && !ToWhole(value, scale, &n)) continue;
    if (RewriteDecimal(arena, series, values, scale)) return;
  }
  RewriteXor(arena, series, values);
}

}  // namespace

void AppendFloat(Arena* arena, Series* series, size_t count, double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  if (count == 0) {
    series->kind = ColumnKind::kConstant;
    series->set_last_bits(bits);
    return;
  }
  if (series->Has(Series::kStaleTail)) {
    // The marker turns out not to be the end: it becomes a value like any other.
    if (series->kind == ColumnKind::kDecimal) {
      PutStaleToken(arena, series);
      series->Clear(Series::kStaleTail);
    } else if (series->kind == ColumnKind::kXor) {
      PutXor(arena, series, model::StaleNan());
      series->Clear(Series::kStaleTail);
    } else {
      ChangeForm(arena, series, count, value);
      return;
    }
  }
  if (bits == model::kStaleNanBits && series->last_bits() != bits) {
    series->Set(Series::kStaleTail);
    return;
  }
  switch (series->kind) {
    case ColumnKind::kConstant:
      if (bits != series->last_bits()) ChangeForm(arena, series, count, value);
      return;
    case ColumnKind::kDecimal: {
      if (bits == series->last_bits()) {
        PutRepeat(arena, series);
        return;
      }
      int64_t n = 0;
      int64_t last = 0;
      if (ToWhole(value, series->scale, &n)) {
        ToWhole(series->last(), series->scale, &last);
        PutDelta(arena, series, n - last);
        series->set_last_bits(bits);
      } else {
        ChangeForm(arena, series, count, value);
      }
      return;
    }
    case ColumnKind::kXor:
      PutXor(arena, series, value);
      return;
    case ColumnKind::kNone:
    case ColumnKind::kHistogram:
    case ColumnKind::kFloatHistogram:
      break;
  }
  NX_CHECK(false);
}

void DecodeFloats(const Arena& arena, const Series& series, size_t count,
                  std::vector<double>* out) {
  const bool stale_tail = series.Has(Series::kStaleTail);
  const size_t stored = stale_tail ? count - 1 : count;
  if (series.kind == ColumnKind::kConstant) {
    out->insert(out->end(), stored, series.last());
  } else {
    uint8_t at[kMostColumnBytes];
    ReadChain(arena, series.column, series.column_size, at);
    const uint8_t* const end = at + series.column_size;
    if (series.kind == ColumnKind::kDecimal) {
      DecodeDecimal(at, end, series.scale, out);
    } else {
      DecodeXor(at, end, stored, out);
    }
  }
  if (stale_tail) out->push_back(model::StaleNan());
}

void DropFloats(Arena* arena, Series* series) {
  FreeChain(arena, series->column, series->column_size);
  series->column = 0;
  series->column_size = 0;
  series->kind = ColumnKind::kNone;
  series->run = 0;
  series->scale = 0;
  series->free_bits = 0;
  series->Clear(Series::kStaleTail);
}

double NewestFloat(const Series& series) {
  return series.Has(Series::kStaleTail) ? model::StaleNan() : series.last();
}

}  // namespace narthex::head
