// The query scripts of tests/scripts, and those of a conformance suite where one is at hand
// (NARTHEX_CONFORMANCE_DIR), over storage that hands out whole chunks, over one of two samples, and
// over the real database.
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
#include "tool/promqltest/database_storage.h"

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

// Storage keeps no start timestamps, so a suite's scripts about them have nothing to run on.
bool LoadsStartTimestamps(const std::string& path) {
  const auto text = base::PosixFs().ReadFile(path);
  return text.ok() && text->find("@st ") != std::string::npos;
}

std::vector<std::string> AllScripts() {
  std::vector<std::string> paths = ScriptsIn(NX_SOURCE_DIR "/tests/scripts");
  const char* const conformance = std::getenv("NARTHEX_CONFORMANCE_DIR");
  if (conformance == nullptr) return paths;
  for (const std::string& path : ScriptsIn(std::string(conformance) + "/promql")) {
    if (!LoadsStartTimestamps(path)) paths.push_back(path);
  }
  return paths;
}

enum class Storage { kWholeChunks, kTwoSamples, kDatabase };

StorageFactory FactoryOf(Storage storage) {
  if (storage == Storage::kDatabase) return OpenDatabaseStorage;
  return FakeStorageFactory(storage == Storage::kTwoSamples ? 2 : 120);
}

class ScriptsTest : public ::testing::TestWithParam<std::tuple<std::string, Storage>> {};

TEST_P(ScriptsTest, EveryEvaluationIsAsExpected) {
  const auto& [path, storage] = GetParam();
  std::ostringstream out;
  EXPECT_EQ(RunPromqlTest({path}, FactoryOf(storage), out), 0) << out.str();
}

std::string NameOf(const ::testing::TestParamInfo<ScriptsTest::ParamType>& test) {
  constexpr const char* kNames[] = {"_whole_chunks", "_two_samples", "_database"};
  const auto& [path, storage] = test.param;
  std::string name = path.substr(path.rfind('/') + 1);
  name += path.starts_with(NX_SOURCE_DIR) ? "" : "_conformance";
  name += kNames[static_cast<size_t>(storage)];
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scripts, ScriptsTest,
                         ::testing::Combine(::testing::ValuesIn(AllScripts()),
                                            ::testing::Values(Storage::kWholeChunks,
                                                              Storage::kTwoSamples,
                                                              Storage::kDatabase)),
                         NameOf);

}  // namespace
}  // namespace narthex::tool
