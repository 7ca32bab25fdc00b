#include "core/shard.h"

#include <string>

#include "guarded_bytes.h"
#include "testing.h"

namespace hurray {
namespace {

constexpr uint64_t kHuge = UINT64_MAX - 1;  // the largest extent that is not dynamic

struct Overrun {
  std::string name;
  uint64_t parent, offset, extent;
};

class ShardOverrun : public testing::TestWithParam<Overrun> {};

TEST_P(ShardOverrun, IsRejected) {
  const Overrun& row = GetParam();
  Shard shard({row.parent}, {row.offset});
  EXPECT_THAT([&] { shard.CheckHolds(std::vector{row.extent}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "shard"));
}

INSTANTIATE_TEST_SUITE_P(Rows, ShardOverrun,
                         testing::Values(Overrun{"OnePastTheEnd", 8, 4, 5},
                                         Overrun{"OffsetPastTheEnd", 8, 9, 0},
                                         Overrun{"SumThatWraps", 8, 4, kHuge},
                                         Overrun{"SumThatWrapsToTheEnd", 8, kHuge, 10},
                                         Overrun{"DynamicExtent", 8, 0, kDynamicExtent}),
                         [](const auto& row) { return row.param.name; });

class ShardThatFits : public testing::TestWithParam<Overrun> {};

TEST_P(ShardThatFits, IsAccepted) {
  const Overrun& row = GetParam();
  EXPECT_NO_THROW(Shard({row.parent}, {row.offset}).CheckHolds(std::vector{row.extent}));
}

INSTANTIATE_TEST_SUITE_P(Rows, ShardThatFits,
                         testing::Values(Overrun{"Whole", 8, 0, 8}, Overrun{"UpToTheEnd", 8, 4, 4},
                                         Overrun{"NothingAtTheEnd", 8, 8, 0},
                                         Overrun{"LargestParent", kHuge, kHuge - 1, 1}),
                         [](const auto& row) { return row.param.name; });

TEST(Shard, RejectsListsOfDifferentLengths) {
  EXPECT_THAT([] { Shard({8}, {0, 4}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "parent_shape"));
}

TEST(Shard, RejectsDynamicEntries) {
  EXPECT_THAT([] { Shard({8, kDynamicExtent}, {0, 0}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "parent_shape[1]"));
  EXPECT_THAT([] { Shard({8}, {kDynamicExtent}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "shard_offset[0]"));
}

TEST(Shard, RejectsMoreThan64Dimensions) {
  EXPECT_NO_THROW(Shard(Shape(64), Shape(64)));
  EXPECT_THAT([] { Shard(Shape(65), Shape(65)); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "65"));
}

TEST(Shard, RejectsATensorOfAnotherRank) {
  Shard shard({8, 8}, {0, 4});
  EXPECT_THAT([&] { shard.CheckHolds(std::vector<uint64_t>{8}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "rank"));
}

TEST(Shard, HasParentShapeBeforeOffsetOnTheWire) {
  auto bytes = LittleEndian<uint64_t>({8, 9, 0, 4});
  ByteReader in(bytes);
  Shard shard = Shard::Decode(in, 2);
  EXPECT_EQ(shard.parent_shape(), (Shape{8, 9}));
  EXPECT_EQ(shard.offset(), (Shape{0, 4}));
  ASSERT_EQ(shard.encoded_size(), bytes.size());
  std::vector<uint8_t> again(shard.encoded_size());
  ByteWriter out(again);
  shard.Encode(out);
  EXPECT_EQ(again, bytes);
}

TEST(Shard, OfAScalarIsEmpty) {
  ByteReader in({});
  EXPECT_EQ(Shard::Decode(in, 0).encoded_size(), 0u);
}

TEST(Shard, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(LittleEndian<uint64_t>({8, 9, 0, 4}), [](std::span<const uint8_t> input) {
    EXPECT_THAT(
        [&] {
          ByteReader in(input);
          Shard::Decode(in, 2);
        },
        ThrowsCode(ErrorCode::kInvalidDescriptor, "truncated"));
  });
}

}  // namespace
}  // namespace hurray
