#include "core/error.h"

#include <cerrno>

#include "testing.h"

namespace hurray {
namespace {

TEST(Error, KeepsCodeAndMessage) {
  Error error(ErrorCode::kStream, "cut short");
  EXPECT_EQ(error.code(), ErrorCode::kStream);
  EXPECT_STREQ(error.what(), "cut short");
}

TEST(Error, WritesControlCharactersOut) {
  // A zero would end what().
  Error error(ErrorCode::kFile, std::string("tensor 'a\0b\n\x1b[0m\x7f': \xc3\xa9", 22));
  EXPECT_STREQ(error.what(), "tensor 'a\\x00b\\x0a\\x1b[0m\\x7f': \xc3\xa9");
}

TEST(SystemError, IsAFileErrorWithNumberAndPath) {
  SystemError error(ENOENT, "no such file", "weights.hrry");
  EXPECT_EQ(error.code(), ErrorCode::kFile);
  EXPECT_EQ(error.error_number(), ENOENT);
  EXPECT_EQ(error.path(), "weights.hrry");
}

TEST(ThrowInvalidDescriptor, ThrowsThatCode) {
  EXPECT_THAT([] { ThrowInvalidDescriptor("rank is 65"); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "rank is 65"));
}

}  // namespace
}  // namespace hurray
