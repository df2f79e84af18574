// Reading a line from left to right. Plain value; thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace narthex::tool {

class TextScanner {
 public:
  // `text` must outlive the views taken from it.
  explicit TextScanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  bool IsNext(char c) const { return !rest_.empty() && rest_.front() == c; }

  bool Take(std::string_view prefix);
  // Whether there was any.
  bool SkipSpaces();
  // [a-zA-Z_:][a-zA-Z0-9_:]*; empty if there is none.
  std::string_view TakeName();
  // Letters only.
  std::string_view TakeWord();
  // Up to the next space or the end.
  std::string_view TakeField();
  // Decimal digits.
  std::optional<uint64_t> TakeCount();
  // A number with an optional sign: digits with fraction and exponent, Inf, NaN. Hexadecimals are
  // none, as x means repetition here.
  std::optional<double> TakeNumber();
  // A string in any of the three kinds of quotes, with its quotes; empty if there is none.
  std::string_view TakeQuoted();

 private:
  std::string_view rest_;
};

std::string_view Trimmed(std::string_view text);

}  // namespace narthex::tool
