#include "core/layouts/compressed.h"

#include "guarded_bytes.h"
#include "layouts/layout_testing.h"
#include "model/sparse_model.h"

namespace hurray {
namespace {

using Buffers = std::vector<std::vector<uint8_t>>;

Buffers Tables(const std::vector<uint64_t>& indices, const std::vector<uint64_t>& pointers) {
  return {{}, LittleEndian<uint64_t>(indices), LittleEndian<uint64_t>(pointers)};
}

TEST(CsrLayout, FindsTheElementsOfTheFormatsExample) {
  Buffers buffers = Tables({1, 0, 3}, {0, 1, 1, 3});
  CsrLayout layout{3};
  std::vector<uint64_t> shape{3, 4};
  EXPECT_NO_THROW(CheckContentsOf(layout, shape, buffers));
  EXPECT_EQ(OffsetIn(layout, shape, {0, 1}, buffers), 0);
  EXPECT_EQ(OffsetIn(layout, shape, {2, 0}, buffers), 1);
  EXPECT_EQ(OffsetIn(layout, shape, {2, 3}, buffers), 2);
  EXPECT_EQ(OffsetIn(layout, shape, {1, 1}, buffers), std::nullopt);
}

TEST(CscLayout, FindsTheElementsOfTheFormatsExample) {
  Buffers buffers = Tables({2, 0, 2}, {0, 1, 2, 2, 3});
  CscLayout layout{3};
  std::vector<uint64_t> shape{3, 4};
  EXPECT_NO_THROW(CheckContentsOf(layout, shape, buffers));
  EXPECT_EQ(OffsetIn(layout, shape, {2, 0}, buffers), 0);
  EXPECT_EQ(OffsetIn(layout, shape, {0, 1}, buffers), 1);
  EXPECT_EQ(OffsetIn(layout, shape, {2, 3}, buffers), 2);
  EXPECT_EQ(OffsetIn(layout, shape, {0, 0}, buffers), std::nullopt);
}

template <typename Kind>
class CompressedLayouts : public testing::Test {};
using Kinds = testing::Types<CsrLayout, CscLayout>;
TYPED_TEST_SUITE(CompressedLayouts, Kinds);

template <typename Kind>
constexpr size_t kMajorOf = 1 - Kind::kMinor;

// A shape with these extents of the major and the minor dimension.
template <typename Kind>
std::vector<uint64_t> ShapeBy(uint64_t major, uint64_t minor) {
  if (kMajorOf<Kind> == 0) return {major, minor};
  return {minor, major};
}

TYPED_TEST(CompressedLayouts, AgreeWithTheModelForEveryIndex) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    std::vector<uint64_t> shape = ShapeBy<TypeParam>(6, 9);
    uint32_t major = kMajorOf<TypeParam>;
    auto entries = model::Sorted(model::RandomEntries(shape, 0.3, seed), {major, 1 - major});
    auto positions = model::PositionsOf(entries);
    auto tables = model::Compress(entries, major, 6);
    Buffers buffers = Tables(tables.indices, tables.pointers);
    TypeParam layout{entries.size()};
    EXPECT_NO_THROW(CheckContentsOf(layout, shape, buffers));
    for (const model::Index& index : model::AllIndices(shape)) {
      auto found = positions.find(index);
      auto expected =
          found == positions.end() ? std::nullopt : std::optional<int64_t>(found->second);
      ASSERT_EQ(OffsetIn(layout, shape, index, buffers), expected);
    }
  }
}

TYPED_TEST(CompressedLayouts, DescribeMatricesOnly) {
  EXPECT_THAT([] { CheckShapeOf(TypeParam{0}, {4}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, std::string(TypeParam::kName)));
  EXPECT_THAT([] { CheckShapeOf(TypeParam{0}, {4, 4, 4}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "rank 2"));
}

TYPED_TEST(CompressedLayouts, NeedOnePointerMoreThanSlots) {
  TypeParam layout{4};
  EXPECT_EQ(NeedOf(layout, 0, ShapeBy<TypeParam>(3, 5)), 16u);
  EXPECT_EQ(NeedOf(layout, 1, ShapeBy<TypeParam>(3, 5)), 32u);
  EXPECT_EQ(NeedOf(layout, 2, ShapeBy<TypeParam>(3, 5)), 32u);
  EXPECT_EQ(NeedOf(layout, 2, ShapeBy<TypeParam>(0, 5)), 8u);
  EXPECT_EQ(NeedOf(layout, 2, ShapeBy<TypeParam>(kDynamicExtent, 5)), std::nullopt);
  EXPECT_EQ(NeedOf(layout, 2, ShapeBy<TypeParam>(3, kDynamicExtent)), 32u);
}

TYPED_TEST(CompressedLayouts, AreHopelessForHugeNumbers) {
  EXPECT_TRUE(IsHopeless(TypeParam{UINT64_MAX}, 0, {4, 4}));
  EXPECT_TRUE(IsHopeless(TypeParam{uint64_t{1} << 61}, 1, {4, 4}));
  EXPECT_TRUE(IsHopeless(TypeParam{0}, 2, {UINT64_MAX - 1, UINT64_MAX - 1}));
}

TYPED_TEST(CompressedLayouts, NeverReadPastTheirTables) {
  std::vector<uint64_t> shape = ShapeBy<TypeParam>(2, 4), last = ShapeBy<TypeParam>(1, 3);
  std::vector<uint8_t> indices = LittleEndian<uint64_t>({1, 3});
  std::vector<uint8_t> pointers = LittleEndian<uint64_t>({0, 1, 2});
  TypeParam layout{2};
  auto refuses = [&](std::span<const uint8_t> first, std::span<const uint8_t> second) {
    std::vector<std::span<const uint8_t>> buffers{{}, first, second};
    EXPECT_THAT([&] { layout.ElementOffset(shape, last, buffers); },
                ThrowsCode(ErrorCode::kInvalidDescriptor, "has room for"));
    EXPECT_THAT([&] { layout.CheckContents({shape, Packing::OfBits(32)}, buffers); },
                ThrowsCode(ErrorCode::kInvalidDescriptor, "has room for"));
  };
  ForEveryShorterInput(indices, [&](auto input) { refuses(input, pointers); });
  ForEveryShorterInput(pointers, [&](auto input) { refuses(indices, input); });
}

struct BadTables {
  std::string name;
  std::vector<uint64_t> indices, pointers;
  std::string message;  // of the check; nothing where only a lookup is bad
};

std::vector<BadTables> AllBadTables() {
  return {
      {"FirstPointerNotZero", {0, 1, 3}, {1, 1, 1, 3}, "position 0: 1 must be 0"},
      {"PointersThatDecrease", {0, 1, 3}, {0, 2, 1, 3}, "position 2: 1 must be at least"},
      {"LastPointerTooSmall", {0, 1, 3}, {0, 1, 2, 2}, "position 3: 2 must be nnz, which is 3"},
      {"PointerPastTheEnd", {0, 1, 3}, {0, 1, 4, 3}, "position 2: 4 must be at most 3"},
      {"PointerNear2To64", {0, 1, 3}, {0, UINT64_MAX, UINT64_MAX, 3}, "at most 3"},
      {"IndexOutsideTheShape", {0, 4, 3}, {0, 1, 2, 3}, "position 1: 4 must be below 4"},
      {"IndexNear2To64", {0, 1, UINT64_MAX}, {0, 1, 2, 3}, "position 2"},
      {"IndicesThatDescend", {0, 3, 1}, {0, 1, 3, 3}, "position 2: 1 must be greater than"},
      {"IndexTwiceInASlice", {0, 3, 3}, {0, 1, 3, 3}, "position 2: 3 must be greater than"},
  };
}

TYPED_TEST(CompressedLayouts, RefuseTablesThatContradictThemselves) {
  std::vector<uint64_t> shape = ShapeBy<TypeParam>(3, 4);
  for (const BadTables& bad : AllBadTables()) {
    SCOPED_TRACE(bad.name);
    Buffers buffers = Tables(bad.indices, bad.pointers);
    EXPECT_THAT([&] { CheckContentsOf(TypeParam{3}, shape, buffers); },
                ThrowsCode(ErrorCode::kInvalidDescriptor, bad.message));
    // Lookups may miss, or refuse, but stay inside the values.
    for (const model::Index& index : model::AllIndices(shape)) {
      try {
        auto offset = OffsetIn(TypeParam{3}, shape, index, buffers);
        EXPECT_TRUE(!offset || (*offset >= 0 && *offset < 3));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidDescriptor);
      }
    }
  }
}

TYPED_TEST(CompressedLayouts, RefuseALookupThroughPointersThatRunBackwardsOrTooFar) {
  std::vector<uint64_t> shape = ShapeBy<TypeParam>(2, 4), index = ShapeBy<TypeParam>(0, 1);
  EXPECT_THAT([&] { OffsetIn(TypeParam{2}, shape, index, Tables({0, 1}, {2, 1, 2})); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "position 0: 2 must be at most"));
  EXPECT_THAT([&] { OffsetIn(TypeParam{2}, shape, index, Tables({0, 1}, {0, UINT64_MAX, 2})); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "position 1"));
}

TYPED_TEST(CompressedLayouts, AllowEmptyMatrices) {
  EXPECT_NO_THROW(CheckContentsOf(TypeParam{0}, ShapeBy<TypeParam>(0, 4), Tables({}, {0})));
  EXPECT_NO_THROW(CheckContentsOf(TypeParam{0}, ShapeBy<TypeParam>(2, 0), Tables({}, {0, 0, 0})));
}

TYPED_TEST(CompressedLayouts, LeaveAPointerTableOfUnknownLengthUnchecked) {
  auto shape = ShapeBy<TypeParam>(kDynamicExtent, 4);
  EXPECT_NO_THROW(CheckContentsOf(TypeParam{2}, shape, Tables({0, 1}, {7})));
}

}  // namespace
}  // namespace hurray
