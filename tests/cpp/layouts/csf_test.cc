#include "core/layouts/csf.h"

#include "guarded_bytes.h"
#include "layouts/layout_testing.h"
#include "model/sparse_model.h"

namespace hurray {
namespace {

using Buffers = std::vector<std::vector<uint8_t>>;

CsfLayout Csf(uint64_t nnz, std::initializer_list<uint32_t> mode_order) {
  return {nnz, SmallVector<uint32_t, 8>(mode_order)};
}

// pos and crd of each level, behind values that stay empty.
Buffers Levels(const std::vector<std::vector<uint64_t>>& tables) {
  Buffers buffers{{}};
  for (const auto& table : tables) buffers.push_back(LittleEndian<uint64_t>(table));
  return buffers;
}

const std::vector<uint64_t> kShape{3, 2, 4};
const std::vector<std::vector<uint64_t>> kTables{{0, 2},    {1, 3},       {0, 2, 3},
                                                 {0, 2, 1}, {0, 1, 3, 4}, {1, 0, 1, 0}};

TEST(CsfLayout, FindsTheElementsOfTheFormatsExample) {
  CsfLayout layout = Csf(4, {2, 0, 1});
  Buffers buffers = Levels(kTables);
  EXPECT_NO_THROW(CheckContentsOf(layout, kShape, buffers));
  EXPECT_EQ(OffsetIn(layout, kShape, {0, 1, 1}, buffers), 0);
  EXPECT_EQ(OffsetIn(layout, kShape, {2, 0, 1}, buffers), 1);
  EXPECT_EQ(OffsetIn(layout, kShape, {2, 1, 1}, buffers), 2);
  EXPECT_EQ(OffsetIn(layout, kShape, {1, 0, 3}, buffers), 3);
  EXPECT_EQ(OffsetIn(layout, kShape, {0, 0, 1}, buffers), std::nullopt);
}

TEST(CsfLayout, AgreesWithTheModelForEveryIndexAndModeOrder) {
  std::vector<uint64_t> shape{3, 4, 2, 3};
  std::vector<uint32_t> order{0, 1, 2, 3};
  do {
    auto entries = model::Sorted(model::RandomEntries(shape, 0.25, order[0]), order);
    auto positions = model::PositionsOf(entries);
    CsfLayout layout{entries.size(), SmallVector<uint32_t, 8>(std::span<const uint32_t>(order))};
    Buffers buffers{{}};
    for (const model::Compressed& level : model::CompressLevels(entries, order)) {
      buffers.push_back(LittleEndian<uint64_t>(level.pointers));
      buffers.push_back(LittleEndian<uint64_t>(level.indices));
    }
    EXPECT_NO_THROW(CheckContentsOf(layout, shape, buffers));
    for (const model::Index& index : model::AllIndices(shape)) {
      auto found = positions.find(index);
      auto expected =
          found == positions.end() ? std::nullopt : std::optional<int64_t>(found->second);
      ASSERT_EQ(OffsetIn(layout, shape, index, buffers), expected);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(CsfLayout, HasTwoTablesForEachLevel) {
  CsfLayout layout = Csf(4, {2, 0, 1});
  EXPECT_EQ(layout.buffer_count(), 7u);
  EXPECT_EQ(layout.BufferRole(0), "values");
  EXPECT_EQ(layout.BufferRole(1), "pos_0");
  EXPECT_EQ(layout.BufferRole(6), "crd_2");
}

TEST(CsfLayout, KnowsTheSizesOfValuesRootAndLeavesOnly) {
  CsfLayout layout = Csf(4, {2, 0, 1});
  std::vector<std::optional<uint64_t>> needs;
  for (size_t i = 0; i < 7; ++i) needs.push_back(NeedOf(layout, i, kShape));
  EXPECT_EQ(needs, (std::vector<std::optional<uint64_t>>{16, 16, std::nullopt, std::nullopt,
                                                         std::nullopt, std::nullopt, 32}));
  EXPECT_TRUE(IsHopeless(Csf(uint64_t{1} << 61, {0, 1, 2}), 6, kShape));
  EXPECT_TRUE(IsHopeless(Csf(UINT64_MAX, {0, 1, 2}), 0, kShape));
}

TEST(CsfLayout, OrdersEachModeOfItsShapeOnce) {
  EXPECT_NO_THROW(CheckShapeOf(Csf(0, {2, 0, 1}), kShape));
  EXPECT_THAT([] { CheckShapeOf(Csf(0, {0, 1}), {3, 2}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "csf needs rank 3"));
  EXPECT_THAT([] { CheckShapeOf(Csf(0, {0, 1}), kShape); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "2 entries in mode_order"));
  EXPECT_THAT([] { CheckShapeOf(Csf(0, {0, 1, 1}), kShape); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "mode_order[2] is 1"));
  EXPECT_THAT([] { CheckShapeOf(Csf(0, {0, 64, 1}), kShape); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "mode_order[1] is 64"));
}

TEST(CsfLayout, StoresNothingInEmptyTables) {
  Buffers buffers = Levels({{0, 0}, {}, {0}, {}, {0}, {}});
  EXPECT_NO_THROW(CheckContentsOf(Csf(0, {0, 1, 2}), kShape, buffers));
  EXPECT_EQ(OffsetIn(Csf(0, {0, 1, 2}), kShape, {0, 0, 0}, buffers), std::nullopt);
}

TEST(CsfLayout, NeverReadsPastItsTables) {
  std::vector<uint64_t> index{1, 0, 3};  // the last entry of every table
  for (size_t cut = 0; cut < kTables.size(); ++cut) {
    Buffers whole = Levels(kTables);
    ForEveryShorterInput(whole[cut + 1], [&](std::span<const uint8_t> input) {
      auto buffers = Spans(whole);
      buffers[cut + 1] = input;
      EXPECT_THAT([&] { Csf(4, {2, 0, 1}).ElementOffset(kShape, index, buffers); },
                  ThrowsCode(ErrorCode::kInvalidDescriptor));
      EXPECT_THAT([&] { Csf(4, {2, 0, 1}).CheckContents({kShape, Packing::OfBits(32)}, buffers); },
                  ThrowsCode(ErrorCode::kInvalidDescriptor));
    });
  }
}

TEST(CsfLayout, IsNotFooledByCountsThatPromiseMoreValuesThanThereAre) {
  EXPECT_THAT([] { OffsetIn(Csf(3, {2, 0, 1}), kShape, {1, 0, 3}, Levels(kTables)); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "stored element 3, nnz is 3"));
}

struct BadTables {
  std::string name;
  size_t table;
  std::vector<uint64_t> content;
  std::string message;
};

class CsfTables : public testing::TestWithParam<BadTables> {};

TEST_P(CsfTables, AreRefused) {
  auto tables = kTables;
  tables[GetParam().table] = GetParam().content;
  Buffers buffers = Levels(tables);
  EXPECT_THAT([&] { CheckContentsOf(Csf(4, {2, 0, 1}), kShape, buffers); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, GetParam().message));
  for (const model::Index& index : model::AllIndices(kShape)) {
    try {
      auto offset = OffsetIn(Csf(4, {2, 0, 1}), kShape, index, buffers);
      EXPECT_TRUE(!offset || (*offset >= 0 && *offset < 4));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidDescriptor);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, CsfTables,
    testing::Values(
        BadTables{"FirstPointerNotZero", 0, {1, 2}, "buffer 1 (pos_0 of layout csf), position 0"},
        BadTables{
            "PointersThatDecrease", 2, {0, 2, 1}, "buffer 3 (pos_1 of layout csf), position 2"},
        BadTables{"PointerPastItsTable", 2, {0, 2, 4}, "position 2: 4 must be at most 3"},
        BadTables{"PointerNear2To64", 4, {0, UINT64_MAX, 3, 4}, "at most 4"},
        BadTables{"PointersTooFew", 4, {0, 1, 4}, "has room for 3 numbers, 4 are needed"},
        BadTables{"LeavesThatAreNotNnz", 4, {0, 1, 3, 3}, "position 3: 3 must be nnz, which is 4"},
        BadTables{
            "CoordinateOutsideItsMode", 1, {1, 4}, "4 must be below 4, the extent of dimension 2"},
        BadTables{"CoordinatesThatDescend", 3, {2, 0, 1}, "position 1: 0 must be greater"},
        BadTables{"CoordinateTwiceInASlice", 5, {1, 1, 1, 0}, "position 2: 1 must be greater"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace hurray
