#include "core/layouts/tiled.h"

#include <random>

#include "layouts/layout_testing.h"
#include "model/dense_model.h"

namespace hurray {
namespace {

TiledLayout Tiled(TiledRecord record) {
  return {{}, std::make_shared<const TiledRecord>(std::move(record))};
}

TiledRecord Plain(std::initializer_list<uint64_t> tile, TileOrder outer = TileOrder::kRowMajor,
                  TileOrder inner = TileOrder::kRowMajor) {
  return {Shape(tile), outer, inner, std::nullopt, std::nullopt, nullptr};
}

TiledRecord Nested(std::initializer_list<uint64_t> tile, TiledRecord inner) {
  return {Shape(tile),       TileOrder::kRowMajor,
          TileOrder::kTiled, std::nullopt,
          std::nullopt,      std::make_shared<const TiledRecord>(std::move(inner))};
}

TEST(TiledLayout, FindsTheElementsOfTheFormatsExamples) {
  EXPECT_EQ(OffsetIn(Tiled(Plain({2, 4})), {6, 8}, {3, 5}), 29);
  EXPECT_EQ(OffsetIn(Tiled(Nested({4, 4}, Plain({2, 2}, TileOrder::kColMajor))), {8, 8}, {5, 6}),
            58);
  EXPECT_EQ(
      OffsetIn(Tiled(Plain({2, 3}, TileOrder::kColMajor, TileOrder::kColMajor)), {4, 6}, {3, 4}),
      21);
}

// ---- against the model

// Every order with every other, over tiles that do not divide the shape, and nesting.
std::vector<TiledRecord> SomeRecords(size_t rank, std::mt19937& random) {
  auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  auto strides = [&] {
    Strides out(rank);
    for (int64_t& stride : out) stride = number(-40, 40);
    return out;
  };
  std::vector<TiledRecord> records;
  for (int outer = 1; outer <= 3; ++outer) {
    for (int inner = 1; inner <= 4; ++inner) {
      TiledRecord record;
      record.tile_shape = Shape(rank);
      Shape small(rank);
      for (size_t k = 0; k < rank; ++k) {
        small[k] = static_cast<uint64_t>(number(1, 2));
        record.tile_shape[k] = small[k] * static_cast<uint64_t>(number(1, 2));
      }
      record.outer = static_cast<TileOrder>(outer);
      record.inner = static_cast<TileOrder>(inner);
      if (outer == 3) record.outer_strides = strides();
      if (inner == 3) record.inner_strides = strides();
      if (inner == 4) {
        TiledRecord nested{
            small, TileOrder::kColMajor, TileOrder::kStrided, std::nullopt, strides(), nullptr};
        record.inner_tiled = std::make_shared<const TiledRecord>(nested);
      }
      records.push_back(record);
    }
  }
  return records;
}

TEST(TiledLayout, AgreesWithTheModelForEveryIndex) {
  std::mt19937 random(7);
  for (const std::vector<uint64_t>& shape :
       {std::vector<uint64_t>{5}, std::vector<uint64_t>{5, 7}, std::vector<uint64_t>{3, 1, 5}}) {
    for (const TiledRecord& record : SomeRecords(shape.size(), random)) {
      TiledLayout layout = Tiled(record);
      layout.Check();
      model::Offsets offsets = model::PaddedTiles(record, shape);
      for (const model::Index& index : model::AllIndices(shape)) {
        ASSERT_EQ(OffsetIn(layout, shape, index), offsets.at(index));
      }
    }
  }
}

TEST(TiledLayout, NeedsWholeTilesAsTheModelDoes) {
  std::mt19937 random(8);
  std::vector<uint64_t> shape{5, 7};
  for (const TiledRecord& record : SomeRecords(shape.size(), random)) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (const auto& [index, offset] : model::PaddedTiles(record, shape)) {
      low = std::min(low, offset);
      high = std::max(high, offset);
    }
    auto cover = static_cast<uint64_t>(-4 * low);  // bytes in front of element 0
    EXPECT_EQ(NeedOf(Tiled(record), 0, shape, cover), cover + 4 * static_cast<uint64_t>(high) + 4);
    if (low < 0) {
      EXPECT_TRUE(IsHopeless(Tiled(record), 0, shape, cover - 1));
    }
  }
}

// ---- sizes

TEST(TiledLayout, NeedsNothingForNoElements) {
  EXPECT_EQ(NeedOf(Tiled(Plain({UINT64_MAX, UINT64_MAX})), 0, {0, 5}, 64), 64u);
}

TEST(TiledLayout, CannotTellItsSizeWhileAnExtentIsDynamic) {
  EXPECT_EQ(NeedOf(Tiled(Plain({2, 2})), 0, {4, kDynamicExtent}), std::nullopt);
}

TEST(TiledLayout, PadsSubByteElementsToWholeTiles) {
  EXPECT_EQ(NeedOf(Tiled(Plain({2, 4})), 0, {3, 5}, 0, /*bits=*/1), 4u);  // 2 x 2 tiles of 8 bits
}

TEST(TiledLayout, IsHopelessWhereTilesOverflow) {
  EXPECT_TRUE(IsHopeless(Tiled(Plain({uint64_t{1} << 32, uint64_t{1} << 32})), 0, {1, 1}));
  EXPECT_TRUE(IsHopeless(Tiled(Plain({1})), 0, {UINT64_MAX - 1}));
  EXPECT_TRUE(IsHopeless(Tiled(Plain({UINT64_MAX})), 0, {1}));
  TiledRecord strided = Plain({1 << 20}, TileOrder::kStrided);
  strided.outer_strides = Strides{INT64_MAX};
  EXPECT_TRUE(IsHopeless(Tiled(strided), 0, {uint64_t{1} << 22}));
  TiledRecord backwards = Plain({2}, TileOrder::kStrided);
  backwards.outer_strides = Strides{INT64_MIN};
  EXPECT_TRUE(IsHopeless(Tiled(backwards), 0, {4}));
}

// ---- construction

struct Refused {
  std::string name;
  TiledRecord record;
  std::string message;
};

TiledRecord With(TiledRecord record, void (*change)(TiledRecord&)) {
  change(record);
  return record;
}

class RefusedTiles : public testing::TestWithParam<Refused> {};

TEST_P(RefusedTiles, AreNamedByTheirMessage) {
  EXPECT_THAT([] { Tiled(GetParam().record).Check(); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, RefusedTiles,
    testing::Values(
        Refused{"Empty", Plain({}), "tile_shape is empty"},
        Refused{"Zero", Plain({4, 0}), "tile_shape[1] is 0"},
        Refused{"TiledOutside", Plain({4}, TileOrder::kTiled), "only inner_layout may be"},
        Refused{"MissingOuterStrides", Plain({4}, TileOrder::kStrided),
                "outer_strides are missing"},
        Refused{"MissingInnerStrides", Plain({4}, TileOrder::kRowMajor, TileOrder::kStrided),
                "inner_strides are missing"},
        Refused{"SurplusOuterStrides",
                With(Plain({4}), [](TiledRecord& r) { r.outer_strides = Strides{1}; }),
                "outer_strides are given, but outer_layout is row_major"},
        Refused{"SurplusEmptyStrides",
                With(Plain({4}), [](TiledRecord& r) { r.inner_strides = Strides{}; }),
                "inner_strides are given"},
        Refused{"TooManyStrides",
                With(Plain({4}, TileOrder::kStrided),
                     [](TiledRecord& r) { r.outer_strides = Strides{1, 2}; }),
                "outer_strides has 2 entries, tile_shape has 1"},
        Refused{"MissingInnerTile", Plain({4}, TileOrder::kRowMajor, TileOrder::kTiled),
                "inner_tiled is missing"},
        Refused{
            "SurplusInnerTile",
            With(Nested({4}, Plain({2})), [](TiledRecord& r) { r.inner = TileOrder::kColMajor; }),
            "inner_tiled is given, but inner_layout is col_major"},
        Refused{"InnerTileThatDoesNotDivide", Nested({6, 6}, Plain({3, 4})),
                "tile_shape[1] is 6, which the inner tile's 4 does not divide"},
        Refused{"InnerTileThatIsLarger", Nested({2}, Plain({4})), "does not divide"},
        Refused{"FaultInside", Nested({4}, Nested({2}, Plain({0}))), "level 3: tile_shape[0]"}),
    [](const auto& row) { return row.param.name; });

TEST(TiledLayout, HasAtMostEightLevels) {
  TiledRecord record = Plain({1});
  for (size_t level = 1; level < kMaxTileLevels; ++level) record = Nested({1}, record);
  EXPECT_NO_THROW(Tiled(record).Check());
  EXPECT_THAT([&] { Tiled(Nested({1}, record)).Check(); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "more than 8 levels"));
}

TEST(TiledLayout, HasTilesOfTheRankOfTheShape) {
  TiledLayout layout = Tiled(Nested({4, 4}, Plain({2})));
  EXPECT_NO_THROW(layout.Check());  // left to the shape
  EXPECT_THAT([&] { CheckShapeOf(layout, {8, 8}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "level 2: tile_shape has 1"));
  EXPECT_THAT([&] { CheckShapeOf(layout, {8}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "level 1: tile_shape has 2"));
  EXPECT_THAT([&] { CheckShapeOf(layout, {}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "tiled"));
  EXPECT_NO_THROW(CheckShapeOf(Tiled(Plain({4, 4})), {8, kDynamicExtent}));
}

TEST(TiledLayout, EqualsAnotherWithTheSameValues) {
  EXPECT_EQ(Tiled(Nested({4}, Plain({2}))), Tiled(Nested({4}, Plain({2}))));
  EXPECT_NE(Tiled(Nested({4}, Plain({2}))), Tiled(Nested({4}, Plain({1}))));
  EXPECT_NE(Tiled(Nested({4}, Plain({2}))), Tiled(Plain({4})));
}

TEST(TileOrder, HasANameAndBack) {
  for (auto order :
       {TileOrder::kRowMajor, TileOrder::kColMajor, TileOrder::kStrided, TileOrder::kTiled}) {
    EXPECT_EQ(TileOrderOf(TileOrderName(order)), order);
  }
  EXPECT_EQ(TileOrderOf("diagonal"), std::nullopt);
}

}  // namespace
}  // namespace hurray
