#include "core/layouts/strided.h"

#include <string>

#include "guarded_bytes.h"
#include "testing.h"

namespace hurray {
namespace {

StridedLayout StridedBy(Strides strides) { return {{}, std::move(strides)}; }

TEST(StridedLayout, MultipliesIndexAndStride) {
  std::vector<uint64_t> shape{3, 4}, index{2, 3};
  EXPECT_EQ(StridedBy({4, 1}).ElementOffset(shape, index, {}), 11);
  EXPECT_EQ(StridedBy({-4, 1}).ElementOffset(shape, index, {}), -5);
  EXPECT_EQ(StridedBy({0, 0}).ElementOffset(shape, index, {}), 0);
}

TEST(StridedLayout, AddressesAHugeBroadcastDimension) {
  std::vector<uint64_t> shape{UINT64_MAX - 1, 2}, index{UINT64_MAX - 2, 1};
  EXPECT_EQ(StridedBy({0, 3}).ElementOffset(shape, index, {}), 3);
}

TEST(StridedLayout, HasOneStrideForEachDimension) {
  EXPECT_THAT([] { StridedBy({4, 1}).CheckShape(std::vector<uint64_t>{3}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "2 strides"));
  EXPECT_THAT([] { StridedBy({}).CheckShape({}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "rank 1 or more"));
  EXPECT_NO_THROW(StridedBy({4, 1}).CheckShape(std::vector<uint64_t>{3, 4}));
}

TEST(StridedLayout, IsEncodedAgain) {
  auto bytes = LittleEndian<int64_t>({-4, 0, INT64_MIN});
  ByteReader in(bytes);
  StridedLayout layout = StridedLayout::Decode(in, 3);
  EXPECT_EQ(layout.strides, (Strides{-4, 0, INT64_MIN}));
  ASSERT_EQ(layout.encoded_size(), bytes.size());
  std::vector<uint8_t> again(bytes.size());
  ByteWriter out(again);
  layout.Encode(out);
  EXPECT_EQ(again, bytes);
}

TEST(StridedLayout, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(LittleEndian<int64_t>({-4, 1}), [](std::span<const uint8_t> input) {
    EXPECT_THAT(
        [&] {
          ByteReader in(input);
          StridedLayout::Decode(in, 2);
        },
        ThrowsCode(ErrorCode::kInvalidDescriptor, "strides"));
  });
}

struct Extremes {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<int64_t> strides;
  std::optional<std::pair<int64_t, int64_t>> range;
};

class ExtremesOfStrides : public testing::TestWithParam<Extremes> {};

TEST_P(ExtremesOfStrides, AreExactOrRefused) {
  auto extremes = StridedExtremes(GetParam().shape, GetParam().strides);
  ASSERT_EQ(extremes.has_value(), GetParam().range.has_value());
  if (extremes) {
    EXPECT_TRUE(extremes->low == GetParam().range->first);
    EXPECT_TRUE(extremes->high == GetParam().range->second);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ExtremesOfStrides,
    testing::Values(
        Extremes{"Scalar", {}, {}, std::pair(0, 0)},
        Extremes{"BothSigns", {3, 4}, {-4, 1}, std::pair(-8, 3)},
        Extremes{"Broadcast", {UINT64_MAX - 1}, {0}, std::pair(0, 0)},
        Extremes{"LargestReach", {2, 2}, {INT64_MAX, -INT64_MAX}, std::pair(-INT64_MAX, INT64_MAX)},
        Extremes{"OneTooHigh", {2, 2}, {INT64_MAX, 1}, std::nullopt},
        Extremes{"OneTooLow", {2}, {INT64_MIN}, std::nullopt},
        Extremes{"ProductOf127Bits", {UINT64_MAX - 1}, {INT64_MIN}, std::nullopt},
        Extremes{"SumOfManyReaches", std::vector<uint64_t>(64, uint64_t{1} << 63),
                 std::vector<int64_t>(64, INT64_MAX), std::nullopt}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace hurray
