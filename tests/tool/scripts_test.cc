// The query scripts of tests/scripts, and those of a conformance suite where one is at hand
// (NARTHEX_CONFORMANCE_DIR), over storage that hands out whole chunks and over one of two samples.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "narthex/base/fs.h"
#include "tests/tool/fake_script_storage.h"
#include "tool/promqltest/command.h"

namespace narthex::tool {
namespace {

std::vector<std::string> ScriptsIn(const std::string& directory) {
  std::vector<std::string> paths;
  const auto names = base::PosixFs().List(directory);
  if (!names.ok()) return paths;
  for (const std::string& name : *names) {
    if (name.ends_with(".test")) paths.push_back(directory + "/" + name);
  }
  return paths;
}

std::vector<std::string> AllScripts() {
  std::vector<std::string> paths = ScriptsIn(NX_SOURCE_DIR "/tests/scripts");
  const char* const conformance = std::getenv("NARTHEX_CONFORMANCE_DIR");
  if (conformance == nullptr) return paths;
  const std::vector<std::string> more = ScriptsIn(std::string(conformance) + "/promql");
  paths.insert(paths.end(), more.begin(), more.end());
  return paths;
}

class ScriptsTest : public ::testing::TestWithParam<std::tuple<std::string, size_t>> {};

TEST_P(ScriptsTest, EveryEvaluationIsAsExpected) {
  const auto& [path, batch_rows] = GetParam();
  std::ostringstream out;
  EXPECT_EQ(RunPromqlTest({path}, FakeStorageFactory(batch_rows), out), 0) << out.str();
}

std::string NameOf(const ::testing::TestParamInfo<ScriptsTest::ParamType>& test) {
  const auto& [path, batch_rows] = test.param;
  std::string name = path.substr(path.rfind('/') + 1);
  name += path.starts_with(NX_SOURCE_DIR) ? "" : "_conformance";
  name += batch_rows == 2 ? "_two_samples" : "_whole_chunks";
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scripts, ScriptsTest,
                         ::testing::Combine(::testing::ValuesIn(AllScripts()),
                                            ::testing::Values(size_t{120}, size_t{2})),
                         NameOf);

}  // namespace
}  // namespace narthex::tool
