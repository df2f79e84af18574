#include "server/api/series_api.h"

#include "gtest/gtest.h"

namespace narthex::server {
namespace {

TEST(UnescapeLabelNameTest, UndoesTheValuesEscaping) {
  EXPECT_EQ(UnescapeLabelName("job"), "job");
  EXPECT_EQ(UnescapeLabelName("U__a_2e_b"), "a.b");
  EXPECT_EQ(UnescapeLabelName("U__a__b"), "a_b");
  EXPECT_EQ(UnescapeLabelName("U___e9_"), "\xc3\xa9");
}

TEST(UnescapeLabelNameTest, LeavesMalformedNamesAlone) {
  for (const char* name : {"U__a_zz_", "U__a_2e", "U___d800_", "U___ffffffff_"}) {
    EXPECT_EQ(UnescapeLabelName(name), name);
  }
}

}  // namespace
}  // namespace narthex::server
