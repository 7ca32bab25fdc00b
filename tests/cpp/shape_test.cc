#include "core/shape.h"

#include <vector>

#include "testing.h"

namespace hurray {
namespace {

TEST(ElementCount, IsOneForAScalar) { EXPECT_EQ(ElementCount({}), 1u); }

TEST(ElementCount, IsZeroForAnEmptyTensorHoweverLargeTheRest) {
  EXPECT_EQ(ElementCount(std::vector<uint64_t>{uint64_t{1} << 63, uint64_t{1} << 63, 0}), 0u);
}

TEST(ElementCount, IsRefusedBeyond64Bits) {
  EXPECT_EQ(ElementCount(std::vector<uint64_t>(64, uint64_t{1} << 63)), std::nullopt);
}

TEST(HasDynamicExtent, TellsDynamicFromEmpty) {
  EXPECT_TRUE(HasDynamicExtent(std::vector<uint64_t>{2, kDynamicExtent}));
  EXPECT_FALSE(HasDynamicExtent(std::vector<uint64_t>{2, 0}));
  EXPECT_FALSE(HasDynamicExtent({}));
  EXPECT_FALSE(HasZeroExtent(std::vector<uint64_t>{2, kDynamicExtent}));
  EXPECT_TRUE(HasZeroExtent(std::vector<uint64_t>{2, 0}));
}

TEST(ShapeText, ShowsDynamicExtentsAsNone) {
  EXPECT_EQ(ShapeText(std::vector<uint64_t>{2, kDynamicExtent, 3}), "[2, None, 3]");
  EXPECT_EQ(ShapeText({}), "[]");
}

}  // namespace
}  // namespace hurray
