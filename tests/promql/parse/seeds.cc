#include "tests/promql/parse/seeds.h"

#include "narthex/base/check.h"
#include "narthex/promql/engine.h"
#include "promql/parse/parser.h"
#include "promql/parse/printer.h"

namespace narthex::promql {

std::span<const std::string_view> QuerySeeds() {
  static constexpr std::string_view kSeeds[] = {
      "sum by (a, \"b.c\") (rate(up{job=~\"x|y\", z!=\"\"}[5m] offset -1h30m @ start())) / 0x1F",
      "quantile(0.9, a smoothed) without (x) > bool -(b - 5m)",
      "a * on(x) group_left(y) fill_left(1) fill_right(-Inf) b and c unless d or e",
      "max_over_time(a[max_of(step(), 5m) * 2 - (1m % 3):range() / 4] offset -(2 ^ 3) @ 1.5e3)",
      "label_replace({\"m\", a=`raw`}, 'd\\x41\\u00e9', \"$1\", \"s\", \"(.*)\") # end",
      "-2 ^ 2 % or_ atan2 sum{sum=\"sum\"} </ 5 >/ 1_000",
      "count_values(\"v\", topk(3, fill + fill_left)) == on() end",
  };
  return kSeeds;
}

void CheckParser(std::string_view query) {
  constexpr ParseOptions kEverything = {true, true, true};
  const auto parsed = ParseExpression(query, kEverything);
  if (!parsed.ok()) return;
  const std::string canonical = ToString(**parsed);
  const auto again = ParseExpression(canonical, kEverything);
  // A negative number in front of a power has no text of its own: (-2)^2 prints as -2^2.
  if (again.ok()) NX_CHECK_EQ(ToString(**again), canonical);
}

}  // namespace narthex::promql
