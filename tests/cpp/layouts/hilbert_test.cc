#include "core/layouts/hilbert.h"

#include "layouts/layout_testing.h"
#include "model/dense_model.h"

namespace hurray {
namespace {

HilbertLayout Hilbert(uint32_t order, uint32_t rank) { return {{}, order, rank}; }

TEST(HilbertLayout, FollowsTheTableOfTheFormat) {
  constexpr std::string_view kPoints =
      "00 10 11 01 02 03 13 12 22 23 33 32 31 21 20 30";  // digit pair c[0]c[1]
  for (size_t h = 0; h < 16; ++h) {
    model::Index point{static_cast<uint64_t>(kPoints[3 * h] - '0'),
                       static_cast<uint64_t>(kPoints[3 * h + 1] - '0')};
    EXPECT_EQ(OffsetIn(Hilbert(2, 2), {4, 4}, point), h);
  }
}

TEST(HilbertLayout, FindsTheElementsOfTheFormatsExamples) {
  EXPECT_EQ(OffsetIn(Hilbert(3, 2), {8, 8}, {5, 2}), 55);
  std::vector<uint64_t> cube{4, 4, 4};
  EXPECT_EQ(OffsetIn(Hilbert(2, 3), cube, {0, 1, 0}), 1);
  EXPECT_EQ(OffsetIn(Hilbert(2, 3), cube, {1, 1, 0}), 2);
  EXPECT_EQ(OffsetIn(Hilbert(2, 3), cube, {0, 0, 1}), 7);
  EXPECT_EQ(OffsetIn(Hilbert(2, 3), cube, {0, 0, 2}), 8);
  EXPECT_EQ(OffsetIn(Hilbert(2, 3), cube, {1, 3, 1}), 27);
  EXPECT_EQ(OffsetIn(Hilbert(2, 3), cube, {3, 0, 0}), 63);
  EXPECT_EQ(OffsetIn(Hilbert(2, 3), cube, {2, 1, 3}), 50);
}

TEST(HilbertLayout, AgreesWithTheDrawnCurveInTwoDimensions) {
  for (uint32_t order = 1; order <= 6; ++order) {
    std::vector<uint64_t> shape(2, uint64_t{1} << order);
    int64_t position = 0;
    for (const model::Index& point : model::HilbertCurve2D(order)) {
      ASSERT_EQ(OffsetIn(Hilbert(order, 2), shape, point), position++) << "order " << order;
    }
  }
}

struct Cube {
  uint32_t order;
  size_t rank;
};

class HilbertCurve : public testing::TestWithParam<Cube> {};

TEST_P(HilbertCurve, VisitsEveryPointOnceInStepsOfOne) {
  auto [order, rank] = GetParam();
  std::vector<uint64_t> point(rank), previous;
  uint64_t count = uint64_t{1} << (order * rank);
  for (uint64_t position = 0; position < count; ++position) {
    HilbertPoint(position, order, point);
    ASSERT_EQ(HilbertPosition(point, order), position);
    if (position > 0) {
      uint64_t steps = 0;
      for (size_t d = 0; d < rank; ++d) {
        steps += std::max(point[d], previous[d]) - std::min(point[d], previous[d]);
      }
      ASSERT_EQ(steps, 1u) << "at position " << position;
    }
    previous = point;
  }
}

INSTANTIATE_TEST_SUITE_P(Cubes, HilbertCurve,
                         testing::Values(Cube{1, 2}, Cube{2, 2}, Cube{3, 2}, Cube{6, 2}, Cube{1, 3},
                                         Cube{2, 3}, Cube{4, 3}, Cube{3, 4}, Cube{2, 5},
                                         Cube{1, 12}),
                         [](const auto& row) {
                           return "Order" + std::to_string(row.param.order) + "Rank" +
                                  std::to_string(row.param.rank);
                         });

TEST(HilbertLayout, FindsTheEndOfTheLongestCurves) {
  for (Cube cube : {Cube{31, 2}, Cube{21, 3}, Cube{1, 63}, Cube{9, 7}}) {
    uint64_t last = (uint64_t{1} << (cube.order * cube.rank)) - 1;
    std::vector<uint64_t> point(cube.rank);
    HilbertPoint(last, cube.order, point);
    EXPECT_EQ(HilbertPosition(point, cube.order), last);
  }
}

TEST(HilbertLayout, RefusesOrdersAndRanksThatNoCurveHas) {
  EXPECT_THAT([] { Hilbert(0, 2).Check(); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "hilbert_order is 0"));
  EXPECT_THAT([] { Hilbert(2, 1).Check(); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "hilbert_rank is 1"));
  EXPECT_THAT([] { Hilbert(32, 2).Check(); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "64"));
  EXPECT_THAT([] { Hilbert(0x80000000, 0x80000000).Check(); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "at most 63"));
  EXPECT_NO_THROW(Hilbert(21, 3).Check());
}

TEST(HilbertLayout, DescribesCubesOfItsSideOnly) {
  EXPECT_NO_THROW(CheckShapeOf(Hilbert(2, 2), {4, 4}));
  EXPECT_NO_THROW(CheckShapeOf(Hilbert(2, 2), {4, kDynamicExtent}));
  EXPECT_THAT([] { CheckShapeOf(Hilbert(2, 2), {4, 3}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "hilbert"));
  EXPECT_THAT([] { CheckShapeOf(Hilbert(2, 2), {0, 4}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "extent 0"));
  EXPECT_THAT([] { CheckShapeOf(Hilbert(2, 2), {4, 4, 4}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "hilbert_rank is 2"));
}

TEST(HilbertLayout, NeedsTheWholeCube) {
  EXPECT_EQ(NeedOf(Hilbert(2, 2), 0, {4, 4}, 64), 64u + 16 * 4);
  EXPECT_EQ(NeedOf(Hilbert(2, 2), 0, {4, kDynamicExtent}), std::nullopt);
  EXPECT_TRUE(IsHopeless(Hilbert(31, 2), 0, {uint64_t{1} << 31, uint64_t{1} << 31}));
}

}  // namespace
}  // namespace hurray
