// The payloads of all layouts that have one: good ones come back byte for byte, are refused at
// every shorter length, and each rule of the format has one that breaks it.
#include <string>

#include "core/layout.h"
#include "guarded_bytes.h"
#include "testing.h"

namespace hurray {
namespace {

struct Payload {
  std::string name;
  uint8_t tag;
  size_t rank;
  std::string_view bytes;
};

class GoodPayload : public testing::TestWithParam<Payload> {};

TEST_P(GoodPayload, IsEncodedAgainByteForByte) {
  std::vector<uint8_t> bytes = Bytes(GetParam().bytes);
  ByteReader in(bytes);
  Layout layout = DecodeLayout(in, GetParam().tag, GetParam().rank);
  EXPECT_EQ(in.remaining(), 0u);
  ASSERT_EQ(LayoutEncodedSize(layout), bytes.size());
  std::vector<uint8_t> again(bytes.size(), 0xEE);
  ByteWriter out(again);
  EncodeLayout(layout, out);
  EXPECT_EQ(again, bytes);
  EXPECT_EQ(LayoutTag(layout), GetParam().tag);
}

TEST_P(GoodPayload, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(Bytes(GetParam().bytes), [](std::span<const uint8_t> input) {
    EXPECT_THAT(
        [&] {
          ByteReader in(input);
          DecodeLayout(in, GetParam().tag, GetParam().rank);
        },
        ThrowsCode(ErrorCode::kInvalidDescriptor, "truncated"));
  });
}

TEST_P(GoodPayload, EqualsItsCopyAndNoOtherPayload) {
  std::vector<uint8_t> bytes = Bytes(GetParam().bytes);
  ByteReader first(bytes), second(bytes);
  Layout layout = DecodeLayout(first, GetParam().tag, GetParam().rank);
  EXPECT_EQ(layout, DecodeLayout(second, GetParam().tag, GetParam().rank));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<uint8_t> changed = bytes;
    changed[i] ^= 1;
    ByteReader in(changed);
    try {
      EXPECT_NE(DecodeLayout(in, GetParam().tag, GetParam().rank), layout) << "byte " << i;
    } catch (const Error&) {
      // Not every byte may be changed.
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, GoodPayload,
    testing::Values(
        Payload{"TiledByRows", 0x04, 2, "0200000000000000 0400000000000000 01 01 0000"},
        Payload{"TiledWithAllStrides", 0x04, 1,
                "0400000000000000 03 03 0000 FFFFFFFFFFFFFFFF 0200000000000000"},
        Payload{"TiledTwice", 0x04, 2,
                "0400000000000000 0400000000000000 01 04 0000"
                "0200000000000000 0200000000000000 02 01 0000"},
        Payload{"TiledEightTimes", 0x04, 1,
                "0001000000000000 01 04 0000 8000000000000000 01 04 0000"
                "4000000000000000 01 04 0000 2000000000000000 02 04 0000"
                "1000000000000000 01 04 0000 0800000000000000 01 04 0000"
                "0400000000000000 02 04 0000 0200000000000000 02 02 0000"},
        Payload{"Morton", 0x05, 2, "02000000 03000000"},
        Payload{"MortonOf63Bits", 0x05, 1, "3F000000"},
        Payload{"Coo", 0x06, 2, "0300000000000000 01 00000000000000"},
        Payload{"Csr", 0x07, 2, "0200000000000000 0000000000000000"},
        Payload{"CsrOfManyElements", 0x07, 2, "FFFFFFFFFFFFFFFF 0000000000000000"},
        Payload{"Csc", 0x08, 2, "0200000000000000 0000000000000000"},
        Payload{"Csf", 0x09, 3, "0400000000000000 02000000 00000000 01000000 0000000000000000"},
        Payload{"BlockPaged", 0x0A, 3,
                "10000000 4000000000000000 00000000 02000000 02 07000000 01 000000000000"},
        Payload{"BlockPagedWithoutLayer", 0x0A, 3,
                "10000000 4000000000000000 00000000 00000000 00 FFFFFFFF 00 000000000000"},
        Payload{"Hilbert", 0x40, 2, "03000000 02000000"}),
    [](const auto& row) { return row.param.name; });

struct Broken {
  std::string name;
  uint8_t tag;
  size_t rank;
  std::string_view bytes;
  std::string message;
};

class BrokenPayload : public testing::TestWithParam<Broken> {};

TEST_P(BrokenPayload, IsRefused) {
  std::vector<uint8_t> bytes = Bytes(GetParam().bytes);
  EXPECT_THAT(
      [&] {
        ByteReader in(bytes);
        DecodeLayout(in, GetParam().tag, GetParam().rank);
      },
      ThrowsCode(ErrorCode::kInvalidDescriptor, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BrokenPayload,
    testing::Values(
        Broken{"TiledTileOfZero", 0x04, 2, "0200000000000000 0000000000000000 01 01 0000",
               "tile_shape[1] is 0"},
        Broken{"TiledInnerTileOfZero", 0x04, 1,
               "0400000000000000 01 04 0000 0000000000000000 01 01 0000",
               "level 2: tile_shape[0] is 0"},
        Broken{"TiledOuterOrderOfZero", 0x04, 1, "0200000000000000 00 01 0000",
               "outer_layout is 0"},
        Broken{"TiledOuterOrderTiled", 0x04, 1, "0200000000000000 04 01 0000", "outer_layout is 4"},
        Broken{"TiledInnerOrderOfZero", 0x04, 1, "0200000000000000 01 00 0000",
               "inner_layout is 0"},
        Broken{"TiledInnerOrderUnknown", 0x04, 1, "0200000000000000 01 05 0000",
               "inner_layout is 5"},
        Broken{"TiledReservedByte", 0x04, 1, "0200000000000000 01 01 0001", "reserved"},
        Broken{"TiledNineTimes", 0x04, 1,
               "0100000000000000 01 04 0000 0100000000000000 01 04 0000"
               "0100000000000000 01 04 0000 0100000000000000 01 04 0000"
               "0100000000000000 01 04 0000 0100000000000000 01 04 0000"
               "0100000000000000 01 04 0000 0100000000000000 01 04 0000"
               "0100000000000000 01 01 0000",
               "more than 8 levels"},
        Broken{"TiledInnerTileThatDoesNotDivide", 0x04, 1,
               "0600000000000000 01 04 0000 0400000000000000 01 01 0000", "does not divide"},
        Broken{"TiledWithoutDimensions", 0x04, 0, "01 01 0000", "tile_shape is empty"},
        Broken{"MortonBitsOfZero", 0x05, 2, "02000000 00000000", "morton_bits[1] is 0"},
        Broken{"MortonBitsOf64", 0x05, 2, "20000000 20000000", "add up to 64"},
        Broken{"MortonBitsWhoseSumWraps", 0x05, 2, "FFFFFFFF 02000000", "add up to 4294967297"},
        Broken{"MortonWithoutDimensions", 0x05, 0, "", "morton_bits is empty"},
        Broken{"CooSortedByTwo", 0x06, 1, "0300000000000000 02 00000000000000", "is_sorted is 2"},
        Broken{"CooReservedByte", 0x06, 1, "0300000000000000 01 00000000000001", "reserved"},
        Broken{"CsrReservedByte", 0x07, 2, "0200000000000000 0000000000000001", "reserved"},
        Broken{"CscReservedByte", 0x08, 2, "0200000000000000 0100000000000000", "reserved"},
        Broken{"CsfModeOutOfRange", 0x09, 3,
               "0400000000000000 00000000 01000000 03000000 0000000000000000",
               "mode_order[2] is 3"},
        Broken{"CsfModeFarOutOfRange", 0x09, 3,
               "0400000000000000 00000000 01000000 FFFFFFFF 0000000000000000",
               "mode_order[2] is 4294967295"},
        Broken{"CsfModeTwice", 0x09, 3,
               "0400000000000000 01000000 02000000 01000000 0000000000000000",
               "mode_order[2] is 1"},
        Broken{"CsfReservedByte", 0x09, 3,
               "0400000000000000 00000000 01000000 02000000 0000000001000000", "reserved"},
        Broken{"BlockPagedRoleUnknown", 0x0A, 3,
               "10000000 4000000000000000 00000000 02000000 03 07000000 01 000000000000",
               "kv_role is 3"},
        Broken{"BlockPagedIndexTypeUnknown", 0x0A, 3,
               "10000000 4000000000000000 00000000 02000000 00 07000000 02 000000000000",
               "block_table_index_type is 2"},
        Broken{"BlockPagedReservedByte", 0x0A, 3,
               "10000000 4000000000000000 00000000 02000000 00 07000000 00 000000000001",
               "reserved"},
        Broken{"HilbertOrderOfZero", 0x40, 2, "00000000 02000000", "hilbert_order is 0"},
        Broken{"HilbertRankOfOne", 0x40, 1, "03000000 01000000", "hilbert_rank is 1"},
        Broken{"HilbertBitsOf64", 0x40, 2, "20000000 02000000", "is 64"},
        Broken{"HilbertBitsThatWrap", 0x40, 2, "00000080 02000000", "is 4294967296"}),
    [](const auto& row) { return row.param.name; });

TEST(LayoutTable, KeepsTheVariantAsSmallAsStrides) {
  EXPECT_LE(sizeof(Layout), sizeof(StridedLayout) + 8);
}

TEST(LayoutTable, GivesEachTagTheNameOfItsLayout) {
  constexpr std::pair<uint8_t, std::string_view> kNames[] = {
      {0x01, "row_major"}, {0x02, "col_major"},   {0x03, "strided"},   {0x04, "tiled"},
      {0x05, "morton"},    {0x06, "coo"},         {0x07, "csr"},       {0x08, "csc"},
      {0x09, "csf"},       {0x0A, "block_paged"}, {0x0B, "composite"}, {0x40, "hilbert"}};
  for (auto [tag, name] : kNames) EXPECT_EQ(NamedLayoutName(tag), name);
}

TEST(LayoutTable, KnowsWhichLayoutsTakeAByteOffsetOrAShard) {
  struct Facts {
    Layout layout;
    bool dense, byte_offset, shard;
  };
  const Facts kFacts[] = {{MortonLayout{{}, {2}}, true, true, true},
                          {HilbertLayout{{}, 1, 2}, true, true, true},
                          {CooLayout{0}, false, false, true},
                          {CsrLayout{0}, false, false, true},
                          {CscLayout{0}, false, false, true},
                          {CsfLayout{0, {0, 1, 2}}, false, false, false},
                          {BlockPagedLayout{1, 1, 0, 1}, false, false, false}};
  for (const Facts& facts : kFacts) {
    SCOPED_TRACE(LayoutName(facts.layout));
    EXPECT_EQ(IsDense(facts.layout), facts.dense);
    EXPECT_EQ(HasByteOffset(facts.layout), facts.byte_offset);
    EXPECT_EQ(AllowsShard(facts.layout), facts.shard);
  }
}

}  // namespace
}  // namespace hurray
