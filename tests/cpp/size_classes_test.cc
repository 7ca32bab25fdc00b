#include "storage/size_classes.h"

#include <gtest/gtest.h>

namespace hurray {
namespace {

TEST(SizeClasses, HoldEverySmallSizeAndWasteLittle) {
  for (size_t size = 0; size <= kLargestSmall; ++size) {
    size_t size_class = ClassOf(size);
    ASSERT_LT(size_class, kClassCount);
    ASSERT_GE(CapacityOf(size_class), size);
    ASSERT_LE(CapacityOf(size_class), size + size / 4 + 80) << size;
    // The smallest that holds it.
    if (size_class > 0) {
      ASSERT_LT(CapacityOf(size_class - 1), size);
    }
  }
}

TEST(SizeClasses, AreWholeLines) {
  for (uint32_t stride : kSizeClasses.stride) EXPECT_EQ(stride % 64, 0u);
}

}  // namespace
}  // namespace hurray
