#include "tool/promqltest/command.h"

#include <ostream>

#include "narthex/base/clock.h"
#include "narthex/base/fs.h"
#include "narthex/base/status.h"
#include "tool/promqltest/runner.h"

namespace narthex::tool {

int RunPromqlTest(const std::vector<std::string>& paths, const StorageFactory& storage_factory,
                  std::ostream& out) {
  ScriptOutcome total;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::string> script = base::PosixFs().ReadFile(path);
    if (!script.ok()) {
      out << path << ": " << base::Message(script.status()) << "\n";
      ++total.num_failed;
      continue;
    }
    ScriptRunner runner(storage_factory, &base::SystemClock());
    const ScriptOutcome outcome =
        runner.Run(*script, [&](int line, std::string_view what, std::string_view why) {
          out << path << ":" << line << ": " << what << ": " << why << "\n";
        });
    total.num_passed += outcome.num_passed;
    total.num_failed += outcome.num_failed;
  }
  out << total.num_passed << " passed, " << total.num_failed << " failed\n";
  return total.num_failed == 0 ? 0 : 1;
}

}  // namespace narthex::tool
