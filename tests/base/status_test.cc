#include "narthex/base/status.h"

#include <cerrno>

#include "gtest/gtest.h"

namespace narthex::base {
namespace {

TEST(StatusTest, MessagesJoinTextAndNumbers) {
  EXPECT_EQ(Message(DataLoss("wal: bad crc: segment=", 12, " offset=", 4711)),
            "wal: bad crc: segment=12 offset=4711");
}

TEST(StatusTest, AFullDiskIsALimit) {
  EXPECT_EQ(ErrnoStatus(ENOSPC, "write x").code(), absl::StatusCode::kResourceExhausted);
}

TEST(StatusTest, ContextGoesInFront) {
  EXPECT_EQ(Message(WithContext(NotFound("x"), "open")), "open: x");
  EXPECT_TRUE(WithContext(absl::OkStatus(), "open").ok());
}

}  // namespace
}  // namespace narthex::base
