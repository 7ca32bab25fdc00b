#include "core/addressing.h"

#include <array>

#include "testing.h"

namespace hurray {
namespace {

using testing::ElementsAre;

std::optional<int64_t> OffsetOf(const TensorDescriptor& descriptor,
                                const std::vector<uint64_t>& index) {
  return ElementOffset(descriptor, index, {});
}

TEST(ElementOffset, FollowsTheOrderOfTheLayout) {
  EXPECT_EQ(OffsetOf(Dense(ElementTypes::kFloat32, {3, 4}), {1, 2}), 6);
  EXPECT_EQ(OffsetOf(Described(ElementTypes::kFloat32, {3, 4}, ColMajorLayout{}, {48}), {1, 2}), 7);
}

TEST(ElementOffset, OfAScalarIsZero) {
  EXPECT_EQ(OffsetOf(Dense(ElementTypes::kFloat32, {}), {}), 0);
}

TEST(ElementOffset, MayBeNegative) {
  TensorDescriptor descriptor(ElementTypes::kFloat32, Shape{3, 4},
                              StridedLayout{{}, Strides{-4, 1}}, BuffersOf({48}), 32);
  descriptor.Validate(ErrorCode::kBuffer);
  EXPECT_EQ(OffsetOf(descriptor, {2, 3}), -5);
}

TEST(ElementOffset, RefusesAnIndexOutsideTheShape) {
  auto descriptor = Dense(ElementTypes::kFloat32, {3, 4});
  EXPECT_THAT([&] { OffsetOf(descriptor, {3, 0}); },
              ThrowsCode(ErrorCode::kOutOfRange, "dimension 0 with size 3"));
  EXPECT_THAT([&] { OffsetOf(descriptor, {0, UINT64_MAX}); }, ThrowsCode(ErrorCode::kOutOfRange));
  EXPECT_THAT([&] { OffsetOf(Dense(ElementTypes::kFloat32, {0}), {0}); },
              ThrowsCode(ErrorCode::kOutOfRange));
}

TEST(ElementOffset, RefusesADynamicShape) {
  auto descriptor = Described(ElementTypes::kFloat32, {2, kDynamicExtent}, RowMajorLayout{}, {48});
  EXPECT_THAT([&] { OffsetOf(descriptor, {0, 0}); }, ThrowsCode(ErrorCode::kUnsupported, "None"));
}

TEST(ElementOffset, RefusesLayoutsThatDefineNone) {
  for (const Layout& layout :
       {Layout(PrivateExtensionLayout{{}, 0xF0, 1, {}}), Layout(UnknownLayout{{}, 0x0C, {}}),
        Layout(CompositeHeadLayout{CompositionRule::kGroup, CombineOp::kNone, 0})}) {
    EXPECT_THAT([&] { OffsetOf(Described(ElementTypes::kInt8, {2}, layout, {2}), {0}); },
                ThrowsCode(ErrorCode::kUnsupported))
        << LayoutName(layout);
  }
}

TEST(FillElementStrides, GivesTheStridesOfEachOrder) {
  std::array<int64_t, 3> strides{};
  EXPECT_TRUE(FillElementStrides(Dense(ElementTypes::kInt8, {2, 3, 4}), strides));
  EXPECT_THAT(strides, ElementsAre(12, 4, 1));
  EXPECT_TRUE(FillElementStrides(Described(ElementTypes::kInt8, {2, 3, 4}, ColMajorLayout{}, {24}),
                                 strides));
  EXPECT_THAT(strides, ElementsAre(1, 2, 6));
  EXPECT_TRUE(FillElementStrides(
      Described(ElementTypes::kInt8, {2, 3, 4}, StridedLayout{{}, Strides{0, -4, 1}}, {24}),
      strides));
  EXPECT_THAT(strides, ElementsAre(0, -4, 1));
}

TEST(FillElementStrides, DoesNotTrapWhereTheTensorIsEmptyAndHuge) {
  std::array<int64_t, 3> strides{};
  constexpr uint64_t kHuge = uint64_t{1} << 63;
  EXPECT_TRUE(FillElementStrides(
      Described(ElementTypes::kInt8, {kHuge, kHuge, 0}, RowMajorLayout{}, {0}), strides));
  EXPECT_TRUE(FillElementStrides(
      Described(ElementTypes::kInt8, {kHuge, kHuge, 0}, ColMajorLayout{}, {0}), strides));
}

TEST(FillElementStrides, KnowsNoneForOtherLayouts) {
  std::array<int64_t, 1> strides{};
  EXPECT_FALSE(FillElementStrides(
      Described(ElementTypes::kInt8, {2}, UnknownLayout{{}, 0x0C, {}}, {2}), strides));
}

}  // namespace
}  // namespace hurray
