#include "storage/aligned_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hurray {
namespace {

TEST(AllocateAligned, GivesTheAlignmentThatWasAskedFor) {
  for (size_t alignment = 64; alignment <= size_t{1} << 21; alignment *= 2) {
    for (size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{4} << 20}) {
      void* memory = AllocateAligned(size, alignment, false);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % GuaranteedAlignment(size), 0u);
      FreeAligned(memory);
    }
  }
}

TEST(AllocateAligned, LeavesRoomBeforeTheBlock) {
  auto* memory = static_cast<unsigned char*>(AllocateAligned(100, 64, false));
  ASSERT_NE(memory, nullptr);
  std::memset(memory - kBlockPrefix, 0xEE, kBlockPrefix + 100);
  FreeAligned(memory);  // still finds its way back
}

TEST(AllocateAligned, ZeroesOnRequest) {
  for (size_t size : {size_t{100}, size_t{5} << 20}) {
    auto* memory = static_cast<unsigned char*>(AllocateAligned(size, 64, true));
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(std::all_of(memory, memory + size, [](unsigned char byte) { return byte == 0; }));
    FreeAligned(memory);
  }
}

TEST(AllocateAligned, GivesNothingForASizeThatWraps) {
  EXPECT_EQ(AllocateAligned(SIZE_MAX, 64, false), nullptr);
  EXPECT_EQ(AllocateAligned(SIZE_MAX - 63, 64, true), nullptr);
  EXPECT_EQ(AllocateAligned(PTRDIFF_MAX, 4096, false), nullptr);
}

TEST(FreeAligned, AcceptsNothing) { FreeAligned(nullptr); }

TEST(GuaranteedAlignment, IsAWholePageForLargeBlocks) {
  EXPECT_EQ(GuaranteedAlignment(1), 64u);
  EXPECT_EQ(GuaranteedAlignment(size_t{4} << 20), 4096u);
}

}  // namespace
}  // namespace hurray
