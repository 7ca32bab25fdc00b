#include "storage/zeroing.h"

#include <gtest/gtest.h>

namespace hurray {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class Zeroing : public testing::Test {
 protected:
  Zeroing() { ForgetUseOfZeroedBlocksForTesting(); }
  ~Zeroing() override { ForgetUseOfZeroedBlocksForTesting(); }

  static int WrittenOf(int count, size_t size) {
    int written = 0;
    for (int i = 0; i < count; ++i) written += ZeroByWriting(size);
    return written;
  }
};

TEST_F(Zeroing, WritesUpToThirtyTwoMebibytesWhileNothingIsKnown) {
  EXPECT_TRUE(ZeroByWriting(32 * kMiB));
  EXPECT_FALSE(ZeroByWriting(32 * kMiB + 1));
}

TEST_F(Zeroing, NeverWritesAfterABlockThatNobodyTouched) {
  NoteUseOfZeroedBlock(false);
  EXPECT_EQ(WrittenOf(100, 5 * kMiB), 0);
}

TEST_F(Zeroing, WritesAfterABlockThatWasTouchedButFindsOutNowAndThen) {
  NoteUseOfZeroedBlock(true);
  int written = WrittenOf(160, 100 * kMiB);
  EXPECT_GE(written, 140);
  EXPECT_LT(written, 160);
}

TEST_F(Zeroing, GoesByTheLastBlock) {
  NoteUseOfZeroedBlock(false);
  NoteUseOfZeroedBlock(true);
  EXPECT_TRUE(ZeroByWriting(100 * kMiB));
}

}  // namespace
}  // namespace hurray
