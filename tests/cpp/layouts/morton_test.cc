#include "core/layouts/morton.h"

#include "layouts/layout_testing.h"
#include "model/dense_model.h"

namespace hurray {
namespace {

MortonLayout Morton(std::initializer_list<uint32_t> bits) {
  return {{}, SmallVector<uint32_t, 8>(bits)};
}

TEST(MortonLayout, FindsTheElementsOfTheFormatsExamples) {
  EXPECT_EQ(OffsetIn(Morton({2, 2}), {4, 4}, {2, 3}), 14);
  EXPECT_EQ(OffsetIn(Morton({2, 2, 2}), {4, 4, 4}, {2, 1, 3}), 46);
  EXPECT_EQ(OffsetIn(Morton({1, 3}), {2, 8}, {1, 7}), 43);
}

struct Spread {
  std::vector<uint32_t> bits;
  std::vector<uint64_t> shape;
};

TEST(MortonLayout, AgreesWithTheModelForEveryIndex) {
  for (const Spread& spread : {Spread{{3}, {5}}, Spread{{2, 2}, {4, 3}}, Spread{{1, 3}, {2, 8}},
                               Spread{{3, 1}, {7, 2}}, Spread{{2, 2, 2}, {4, 1, 3}},
                               Spread{{1, 2, 1}, {2, 3, 2}}, Spread{{1, 1, 1, 1}, {2, 2, 1, 2}}}) {
    MortonLayout layout{{}, SmallVector<uint32_t, 8>(std::span<const uint32_t>(spread.bits))};
    model::Offsets offsets = model::MortonOrder(spread.bits, spread.shape);
    uint64_t largest = 0, sum = 0;
    for (uint32_t count : spread.bits) sum += count;
    for (const auto& [index, offset] : offsets) {
      ASSERT_EQ(OffsetIn(layout, spread.shape, index), offset);
      largest = std::max(largest, static_cast<uint64_t>(offset));
    }
    EXPECT_EQ(NeedOf(layout, 0, spread.shape), 4 * std::max(uint64_t{1} << sum, largest + 1));
  }
}

TEST(MortonLayout, NeedsRoomForTheLastCodeWhereBitsAreUneven) {
  EXPECT_EQ(NeedOf(Morton({1, 3}), 0, {2, 8}), 44u * 4);
  EXPECT_EQ(NeedOf(Morton({1, 2}), 0, {2, 4}), 12u * 4);
  EXPECT_EQ(NeedOf(Morton({2, 1}), 0, {4, 2}), 8u * 4);
  EXPECT_EQ(NeedOf(Morton({2, 2, 1}), 0, {4, 4, 2}), 32u * 4);
}

TEST(MortonLayout, NeedsAllCodesHoweverSmallTheShape) {
  EXPECT_EQ(NeedOf(Morton({2, 2}), 0, {1, 1}, 64), 64u + 16 * 4);
}

TEST(MortonLayout, NeedsNothingForNoElementsAndCannotTellForDynamicOnes) {
  EXPECT_EQ(NeedOf(Morton({31, 31}), 0, {0, 5}, 64), 64u);
  EXPECT_EQ(NeedOf(Morton({2, 2}), 0, {4, kDynamicExtent}), std::nullopt);
}

TEST(MortonLayout, IsHopelessWhereItsCodesOverflow) {
  EXPECT_TRUE(IsHopeless(Morton({63}), 0, {1}));  // 2^65 bytes
  EXPECT_TRUE(IsHopeless(Morton({63}), 0, {uint64_t{1} << 63}, 0, /*bits=*/1));
  EXPECT_EQ(NeedOf(Morton({62}), 0, {1}, 0, /*bits=*/1), uint64_t{1} << 59);
}

TEST(MortonLayout, RefusesBitsThatNoCodeHolds) {
  EXPECT_THAT([] { Morton({}).Check(); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "empty"));
  EXPECT_THAT([] { Morton({1, 0}).Check(); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "morton_bits[1] is 0"));
  EXPECT_THAT([] { Morton({32, 32}).Check(); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "add up to 64"));
  EXPECT_NO_THROW(Morton({32, 31}).Check());
}

TEST(MortonLayout, HoldsExtentsUpToTheirBits) {
  EXPECT_NO_THROW(CheckShapeOf(Morton({2, 3}), {4, 8}));
  EXPECT_NO_THROW(CheckShapeOf(Morton({2, 3}), {kDynamicExtent, 8}));
  EXPECT_NO_THROW(CheckShapeOf(Morton({63}), {uint64_t{1} << 63}));
  EXPECT_THAT([] { CheckShapeOf(Morton({2, 3}), {5, 8}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "allows at most 4"));
  EXPECT_THAT([] { CheckShapeOf(Morton({2, 3}), {4}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "morton"));
}

TEST(MortonLayout, RefusesUnevenBitsThatLeaveTheCode) {
  // Bit 39 of dimension 1 would be bit 79 of the code, though there are 41 bits in all.
  EXPECT_THAT([] { CheckShapeOf(Morton({1, 40}), {1, 1}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "position 79"));
  EXPECT_NO_THROW(CheckShapeOf(Morton({1, 32}), {1, 1}));
}

}  // namespace
}  // namespace hurray
