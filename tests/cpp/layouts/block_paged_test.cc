#include "core/layouts/block_paged.h"

#include "guarded_bytes.h"
#include "layouts/layout_testing.h"

namespace hurray {
namespace {

using Buffers = std::vector<std::vector<uint8_t>>;

// The example of the format: pages of 4 tokens, 2 sequences.
BlockPagedLayout Example() { return {4, 6, 0, 2}; }

Buffers Tables(const std::vector<uint32_t>& block_table, const std::vector<uint32_t>& seq_ptr) {
  return {{}, LittleEndian<uint32_t>(block_table), LittleEndian<uint32_t>(seq_ptr)};
}

TEST(BlockPagedLayout, ReadsTheFieldsOfItsPayload) {
  auto layout = Decoded<BlockPagedLayout>(
      "10000000 4000000000000000 00000000 02000000 01 07000000 01 000000000000", 3);
  EXPECT_EQ(layout, (BlockPagedLayout{16, 64, 0, 2, KvRole::kValue, 7, PageIndexType::kUint64}));
}

TEST(BlockPagedLayout, MarksTheLackOfALayer) {
  EXPECT_EQ(Encoded(Example()),
            Bytes("04000000 0600000000000000 00000000 02000000 00 FFFFFFFF 00 000000000000"));
}

TEST(BlockPagedLayout, RefusesTheLayerThatStandsForNone) {
  BlockPagedLayout layout = Example();
  layout.layer_index = 0xFFFFFFFF;
  EXPECT_THAT([&] { layout.Check(); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "layer_index"));
  layout.layer_index = 0xFFFFFFFE;
  EXPECT_NO_THROW(layout.Check());
}

TEST(BlockPagedLayout, DescribesTokensHeadsAndHeadSize) {
  EXPECT_NO_THROW(CheckShapeOf(Example(), {kDynamicExtent, 2, 3}));
  EXPECT_THAT([] { CheckShapeOf(Example(), {24, 2}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "block_paged needs rank 3"));
  EXPECT_THAT([] { CheckShapeOf(BlockPagedLayout{4, 6, 1, 2}, {24, 2, 3}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "paged_axis is 1"));
  EXPECT_THAT([] { CheckShapeOf(BlockPagedLayout{0, 6, 0, 2}, {24, 2, 3}); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "page_size is 0"));
}

TEST(BlockPagedLayout, NeedsItsPagesWhateverTheTokens) {
  EXPECT_EQ(NeedOf(Example(), 0, {0, 2, 3}), 4u * 6 * 2 * 3 * 4);
  EXPECT_EQ(NeedOf(Example(), 0, {kDynamicExtent, 2, 3}), 4u * 6 * 2 * 3 * 4);
  EXPECT_EQ(NeedOf(Example(), 0, {24, kDynamicExtent, 3}), std::nullopt);
  EXPECT_EQ(NeedOf(Example(), 1, {24, 2, 3}), 0u);
  EXPECT_EQ(NeedOf(Example(), 2, {24, 2, 3}), 12u);
  BlockPagedLayout wide = Example();
  wide.block_table_index_type = PageIndexType::kUint64;
  wide.num_seqs = UINT32_MAX;
  EXPECT_EQ(NeedOf(wide, 2, {24, 2, 3}), uint64_t{1} << 35);
}

TEST(BlockPagedLayout, IsHopelessForHugePools) {
  BlockPagedLayout layout{UINT32_MAX, UINT64_MAX, 0, 1};
  EXPECT_TRUE(IsHopeless(layout, 0, {1, 1, 1}));
  EXPECT_EQ(NeedOf(layout, 0, {1, 0, 1}), 0u);
}

TEST(BlockPagedLayout, HasNoOffsetForALogicalIndex) {
  EXPECT_THAT([] { OffsetIn(Example(), {24, 2, 3}, {0, 0, 0}); },
              ThrowsCode(ErrorCode::kUnsupported, "block_paged"));
}

// ---- level D

TEST(BlockPagedContents, AllowAliasedAndSurplusPages) {
  EXPECT_NO_THROW(CheckContentsOf(Example(), {16, 2, 3}, Tables({3, 0, 3, 5, 99}, {0, 3, 4})));
  EXPECT_NO_THROW(CheckContentsOf(BlockPagedLayout{4, 6, 0, 0}, {0, 2, 3}, Tables({}, {0})));
}

struct BadTables {
  std::string name;
  std::vector<uint32_t> block_table, seq_ptr;
  std::string message;
};

class BlockPagedTables : public testing::TestWithParam<BadTables> {};

TEST_P(BlockPagedTables, AreRefused) {
  EXPECT_THAT(
      [] {
        CheckContentsOf(Example(), {16, 2, 3}, Tables(GetParam().block_table, GetParam().seq_ptr));
      },
      ThrowsCode(ErrorCode::kInvalidDescriptor, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BlockPagedTables,
    testing::Values(
        BadTables{"FirstPointerNotZero", {3, 0}, {1, 1, 2}, "(seq_ptr), position 0: 1 must be 0"},
        BadTables{"PointersThatDecrease", {3, 0}, {0, 2, 1}, "position 2: 1 must be at least"},
        BadTables{"MorePagesThanTheTableHolds", {3, 0}, {0, 1, 3}, "(block_table"},
        BadTables{"PagesNear2To32", {3, 0}, {0, 1, UINT32_MAX}, "4294967295 are needed"},
        BadTables{"PageOutsideThePool", {3, 6}, {0, 1, 2}, "position 1: 6 must be below num_pages"},
        BadTables{"PointersTooFew", {3, 0}, {0, 2}, "(seq_ptr"}),
    [](const auto& row) { return row.param.name; });

TEST(BlockPagedContents, ReadWideTables) {
  BlockPagedLayout layout = Example();
  layout.block_table_index_type = PageIndexType::kUint64;
  Buffers buffers{{}, LittleEndian<uint64_t>({3, 5}), LittleEndian<uint64_t>({0, 1, 2})};
  EXPECT_NO_THROW(CheckContentsOf(layout, {8, 2, 3}, buffers));
  buffers[1] = LittleEndian<uint64_t>({3, uint64_t{1} << 32});
  EXPECT_THAT([&] { CheckContentsOf(layout, {8, 2, 3}, buffers); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "4294967296"));
}

TEST(BlockPagedContents, NeverReadPastTheirTables) {
  Buffers whole = Tables({3, 0}, {0, 1, 2});
  for (size_t cut : {size_t{1}, size_t{2}}) {
    ForEveryShorterInput(whole[cut], [&](std::span<const uint8_t> input) {
      auto buffers = Spans(whole);
      buffers[cut] = input;
      std::vector<uint64_t> shape{8, 2, 3};
      EXPECT_THAT([&] { Example().CheckContents({shape, Packing::OfBits(32)}, buffers); },
                  ThrowsCode(ErrorCode::kInvalidDescriptor));
    });
  }
}

TEST(ValidateIndexBuffers, AppliesTheSameRulesToNumbers) {
  using Numbers = std::vector<uint64_t>;
  auto validate = [](const Numbers& seq_ptr, const Numbers& block_table) {
    return [=] { Example().ValidateIndexBuffers(seq_ptr, block_table); };
  };
  EXPECT_NO_THROW(validate({0, 3, 4}, {3, 0, 3, 5})());
  EXPECT_NO_THROW((BlockPagedLayout{4, 6, 0, 0}.ValidateIndexBuffers(Numbers{0}, Numbers{})));
  EXPECT_THAT(validate({0, 4}, {3, 0, 3, 5}),
              ThrowsCode(ErrorCode::kInvalidDescriptor, "num_seqs + 1, which is 3"));
  EXPECT_THAT(validate({}, {}), ThrowsCode(ErrorCode::kInvalidDescriptor, "0 entries"));
  EXPECT_THAT(validate({1, 3, 4}, {3, 0, 3, 5}), ThrowsCode(ErrorCode::kInvalidDescriptor));
  EXPECT_THAT(validate({0, 4, 3}, {3, 0, 3}), ThrowsCode(ErrorCode::kInvalidDescriptor));
  EXPECT_THAT(validate({0, 3, 3}, {3, 0, 3, 5}),
              ThrowsCode(ErrorCode::kInvalidDescriptor, "the length of block_table, which is 4"));
  EXPECT_THAT(validate({0, 3, 4}, {3, 0, 6, 5}),
              ThrowsCode(ErrorCode::kInvalidDescriptor, "position 2: 6"));
}

// ---- quantization

TEST(BlockPagedQuantization, HasChannelsOfHeadsAndBlocksOfPages) {
  auto check = [](QuantizationScheme scheme) {
    return [=] { Example().ValidateQuantizationCompatibility(Quantization{scheme, {}}); };
  };
  EXPECT_NO_THROW(check(PerTensorAffine{1, 0})());
  EXPECT_NO_THROW(check(PerChannelAffine{1, 3, std::nullopt})());
  EXPECT_NO_THROW(check(PerChannelAffine{2, 3, std::nullopt})());
  EXPECT_NO_THROW(check(PerBlockAffine{0, 4, 3, std::nullopt, ElementTypes::kFloat32})());
  EXPECT_NO_THROW(check(Nf4{1, 8, 3})());
  EXPECT_NO_THROW(check(Mxfp{0, 32, 3})());
  EXPECT_THAT(check(PerChannelAffine{0, 3, std::nullopt}),
              ThrowsCode(ErrorCode::kInvalidDescriptor, "axis is 0"));
  EXPECT_THAT(check(PerBlockAffine{1, 4, 3, std::nullopt, ElementTypes::kFloat32}),
              ThrowsCode(ErrorCode::kInvalidDescriptor, "axis is 1"));
  EXPECT_THAT(check(PerBlockAffine{0, 8, 3, std::nullopt, ElementTypes::kFloat32}),
              ThrowsCode(ErrorCode::kInvalidDescriptor, "block_size is 8"));
}

TEST(BlockPagedQuantization, IsCheckedWithTheDescriptor) {
  DescriptorSections sections;
  sections.quantization = Quantization{PerChannelAffine{0, 3, std::nullopt}, {}};
  TensorDescriptor descriptor =
      Described(ElementTypes::kInt8, {24, 2, 3}, Example(), {144, 16, 12, 96}, sections);
  EXPECT_THAT([&] { descriptor.Validate(ErrorCode::kBuffer); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "per-channel"));
}

TEST(KvRole, HasANameAndBack) {
  for (KvRole role : {KvRole::kKey, KvRole::kValue, KvRole::kFused}) {
    EXPECT_EQ(KvRoleOf(KvRoleName(role)), role);
  }
  EXPECT_EQ(KvRoleOf("query"), std::nullopt);
}

TEST(PageIndexType, HasANameAndBack) {
  for (PageIndexType type : {PageIndexType::kUint32, PageIndexType::kUint64}) {
    EXPECT_EQ(PageIndexTypeOf(PageIndexTypeName(type)), type);
  }
  EXPECT_EQ(PageIndexTypeOf("int32"), std::nullopt);
}

}  // namespace
}  // namespace hurray
