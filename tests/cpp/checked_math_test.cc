#include "core/checked_math.h"

#include <gtest/gtest.h>

#include <vector>

namespace hurray {
namespace {

TEST(CheckedAdd, RefusesASumThatWraps) {
  EXPECT_EQ(CheckedAdd(UINT64_MAX - 1, uint64_t{1}), UINT64_MAX);
  EXPECT_EQ(CheckedAdd(UINT64_MAX, uint64_t{1}), std::nullopt);
}

TEST(CheckedMul, RefusesAProductThatWraps) {
  EXPECT_EQ(CheckedMul(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), 0xFFFFFFFF00000000u);
  EXPECT_EQ(CheckedMul(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
}

TEST(CheckedMath, CarriesAnEarlierOverflowOn) {
  std::optional<uint64_t> overflowed;
  EXPECT_EQ(CheckedAdd(overflowed, std::optional<uint64_t>(1)), std::nullopt);
  EXPECT_EQ(CheckedMul(std::optional<uint64_t>(0), overflowed), std::nullopt);
  EXPECT_EQ(CheckedMul(std::optional<uint64_t>(6), std::optional<uint64_t>(7)), 42u);
}

TEST(CheckedProduct, OfNoFactorsIsOne) { EXPECT_EQ(CheckedProduct({}), 1u); }

TEST(CheckedProduct, RefusesSixtyFourFactorsOfTwoToThe63) {
  std::vector<uint64_t> factors(64, uint64_t{1} << 63);
  EXPECT_EQ(CheckedProduct(factors), std::nullopt);
}

TEST(CheckedProduct, IsZeroIfAFactorIsZeroWhereverItStands) {
  constexpr uint64_t kHuge = uint64_t{1} << 63;
  EXPECT_EQ(CheckedProduct(std::vector<uint64_t>{0, kHuge, kHuge}), 0u);
  EXPECT_EQ(CheckedProduct(std::vector<uint64_t>{kHuge, kHuge, 0}), 0u);
}

TEST(CheckedProduct, ReachesTheLargestNumber) {
  // 2^64 - 1 = 3 * 5 * 17 * 257 * 641 * 65537 * 6700417.
  EXPECT_EQ(CheckedProduct(std::vector<uint64_t>{3, 5, 17, 257, 641, 65537, 6700417}), UINT64_MAX);
}

TEST(CeilDiv, RoundsUpWithoutWrapping) {
  EXPECT_EQ(CeilDiv(0, 4), 0u);
  EXPECT_EQ(CeilDiv(8, 4), 2u);
  EXPECT_EQ(CeilDiv(9, 4), 3u);
  EXPECT_EQ(CeilDiv(UINT64_MAX, 2), uint64_t{1} << 63);
}

TEST(CheckedAlignUp, RoundsUpOrRefuses) {
  EXPECT_EQ(CheckedAlignUp(0, 4096), 0u);
  EXPECT_EQ(CheckedAlignUp(1, 4096), 4096u);
  EXPECT_EQ(CheckedAlignUp(4096, 4096), 4096u);
  EXPECT_EQ(CheckedAlignUp(UINT64_MAX - 7, 8), UINT64_MAX - 7);
  EXPECT_EQ(CheckedAlignUp(UINT64_MAX - 6, 8), std::nullopt);
}

TEST(IsPowerOfTwo, KnowsThatZeroIsNone) {
  EXPECT_FALSE(IsPowerOfTwo(0));
  EXPECT_TRUE(IsPowerOfTwo(1));
  EXPECT_FALSE(IsPowerOfTwo(96));
  EXPECT_TRUE(IsPowerOfTwo(uint64_t{1} << 63));
}

}  // namespace
}  // namespace hurray
