#include "core/layouts/coo.h"

#include "guarded_bytes.h"
#include "layouts/layout_testing.h"
#include "model/sparse_model.h"

namespace hurray {
namespace {

using Buffers = std::vector<std::vector<uint8_t>>;

// Values are never read to find an element, so that buffer may stay empty.
Buffers Indices(const std::vector<uint64_t>& coordinates) {
  return {{}, LittleEndian<uint64_t>(coordinates)};
}

TEST(CooLayout, AgreesWithTheModelForEveryIndex) {
  for (const std::vector<uint64_t>& shape :
       {std::vector<uint64_t>{9}, std::vector<uint64_t>{4, 5}, std::vector<uint64_t>{3, 2, 4}}) {
    for (bool sorted : {false, true}) {
      std::vector<uint32_t> order;
      for (uint32_t d = 0; d < shape.size(); ++d) order.push_back(d);
      auto entries = model::RandomEntries(shape, 0.4, 11);
      if (sorted) entries = model::Sorted(entries, order);
      auto positions = model::PositionsOf(entries);
      CooLayout layout{entries.size(), sorted};
      Buffers buffers = Indices(model::CooIndices(entries));
      EXPECT_NO_THROW(CheckContentsOf(layout, shape, buffers));
      for (const model::Index& index : model::AllIndices(shape)) {
        auto found = positions.find(index);
        auto expected =
            found == positions.end() ? std::nullopt : std::optional<int64_t>(found->second);
        ASSERT_EQ(OffsetIn(layout, shape, index, buffers), expected);
      }
    }
  }
}

TEST(CooLayout, NeedsItsValuesAndCoordinatesWhateverTheShape) {
  CooLayout layout{3};
  EXPECT_EQ(NeedOf(layout, 0, {0, 5}), 12u);
  EXPECT_EQ(NeedOf(layout, 1, {kDynamicExtent, 5}), 48u);
  EXPECT_EQ(NeedOf(CooLayout{9}, 0, {100}, 0, /*bits=*/1), 2u);
}

TEST(CooLayout, IsHopelessForHugeNnz) {
  EXPECT_TRUE(IsHopeless(CooLayout{UINT64_MAX}, 0, {4}));
  EXPECT_TRUE(IsHopeless(CooLayout{uint64_t{1} << 61}, 1, {4}));
  EXPECT_TRUE(IsHopeless(CooLayout{uint64_t{1} << 59}, 1, {4, 4, 4, 4}));
}

TEST(CooLayout, HasAtLeastOneDimension) {
  EXPECT_THAT([] { CheckShapeOf(CooLayout{0}, {}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "coo"));
}

TEST(CooLayout, NeverReadsPastItsCoordinates) {
  std::vector<uint8_t> bytes = LittleEndian<uint64_t>({0, 1, 2, 3});
  ForEveryShorterInput(bytes, [](std::span<const uint8_t> input) {
    std::vector<std::span<const uint8_t>> buffers{{}, input};
    std::vector<uint64_t> shape{4, 4}, index{3, 3};
    for (CooLayout layout : {CooLayout{2}, CooLayout{2, true}, CooLayout{UINT64_MAX}}) {
      EXPECT_THAT([&] { layout.ElementOffset(shape, index, buffers); },
                  ThrowsCode(ErrorCode::kInvalidDescriptor, "buffer 1 (indices"));
      EXPECT_THAT([&] { layout.CheckContents({shape, Packing::OfBits(32)}, buffers); },
                  ThrowsCode(ErrorCode::kInvalidDescriptor, "buffer 1 (indices"));
    }
  });
}

TEST(CooLayout, ReadsUnalignedCoordinates) {
  std::vector<uint8_t> bytes = LittleEndian<uint64_t>({2, 1});
  bytes.insert(bytes.begin(), 0xEE);
  std::vector<std::span<const uint8_t>> buffers{{}, std::span(bytes).subspan(1)};
  std::vector<uint64_t> shape{3, 3}, index{2, 1};
  EXPECT_EQ((CooLayout{1}.ElementOffset(shape, index, buffers)), 0);
}

// ---- level D

TEST(CooContents, RefuseACoordinateOutsideTheShape) {
  EXPECT_THAT([] { CheckContentsOf(CooLayout{2}, {3, 4}, Indices({0, 1, 2, 4})); },
              ThrowsCode(ErrorCode::kInvalidDescriptor,
                         "buffer 1 (indices of layout coo), position 3: 4 must be below 4"));
  EXPECT_THAT([] { CheckContentsOf(CooLayout{1}, {3, 4}, Indices({UINT64_MAX, 0})); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "position 0"));
}

TEST(CooContents, RefuseADuplicate) {
  EXPECT_THAT([] { CheckContentsOf(CooLayout{2}, {3, 4}, Indices({2, 1, 2, 1})); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "entry 1"));
  EXPECT_THAT(
      [] { CheckContentsOf(CooLayout{3}, {3, 4}, Indices({2, 1, 0, 0, 2, 1})); },
      ThrowsCode(ErrorCode::kInvalidDescriptor, "entry 2 has the coordinates [2, 1] of entry 0"));
  EXPECT_THAT([] { CheckContentsOf(CooLayout{2, true}, {3, 4}, Indices({2, 1, 2, 1})); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "of entry 0"));
}

TEST(CooContents, RefuseDisorderOnlyWhereOrderIsClaimed) {
  EXPECT_NO_THROW(CheckContentsOf(CooLayout{2}, {3, 4}, Indices({2, 1, 0, 3})));
  EXPECT_THAT([] { CheckContentsOf(CooLayout{2, true}, {3, 4}, Indices({2, 1, 0, 3})); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "is_sorted"));
}

TEST(CooContents, TakeAnyCoordinateOfADynamicExtent) {
  EXPECT_NO_THROW(CheckContentsOf(CooLayout{1}, {kDynamicExtent}, Indices({1u << 30})));
}

}  // namespace
}  // namespace hurray
