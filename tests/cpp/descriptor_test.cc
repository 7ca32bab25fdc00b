#include "core/descriptor.h"

#include <string>

#include "guarded_bytes.h"
#include "testing.h"
#include "wire_descriptor.h"

namespace hurray {
namespace {

constexpr uint32_t kQuantizationFlag = 1, kShardFlag = 2, kExtensionFlag = 4, kStatisticsFlag = 8,
                   kMemberFlag = 16;

std::vector<uint8_t> PerTensorSection() {
  return Bytes("10000000 01010000 0000803F 00000000 00000000");
}
std::vector<uint8_t> StatisticsSection() { return std::vector<uint8_t>(72, 0); }
std::vector<uint8_t> ExtensionSection() {
  return Bytes("08000000 01 00 01 00 00 00 0000 00000000 00 00 0000");
}
std::vector<uint8_t> MemberSection(uint8_t role) {
  std::vector<uint8_t> section(16, 0);
  section[0] = role;
  return section;
}

// A uint8 tensor of shape [2, 3].
WireDescriptor Plain() {
  WireDescriptor wire;
  wire.shape = {2, 3};
  wire.handles = {{6}};
  return wire;
}

WireDescriptor PrivatelyTyped() {
  WireDescriptor wire = Plain();
  wire.type_tag = 0xF0;
  wire.AddSection(kExtensionFlag, ExtensionSection());
  return wire;
}

WireDescriptor Head(uint8_t rule, uint8_t combine_op, uint32_t member_count) {
  WireDescriptor wire;
  wire.shape = {2, 3};
  wire.layout_tag = 0x0B;
  wire.payload = {rule, combine_op, 0, 0};
  auto count = LittleEndian<uint32_t>({member_count});
  wire.payload.insert(wire.payload.end(), count.begin(), count.end());
  return wire;
}

// All five sections at once.
WireDescriptor WithEverySection() {
  WireDescriptor wire = Plain();
  wire.type_tag = 0xF0;
  wire.AddSection(kQuantizationFlag, PerTensorSection());
  wire.AddSection(kShardFlag, LittleEndian<uint64_t>({4, 3, 2, 0}));
  wire.AddSection(kStatisticsFlag, StatisticsSection());
  wire.AddSection(kExtensionFlag, ExtensionSection());
  wire.AddSection(kMemberFlag, MemberSection(1));
  return wire;
}

TensorDescriptor Decoded(const WireDescriptor& wire, Mode mode = Mode::kStrict) {
  return TensorDescriptor::Decode(wire.Encode(), mode);
}

// ---- rules of level F

struct Broken {
  std::string name;
  WireDescriptor (*make)();
  void (*breaks)(WireDescriptor&);
  std::string text;  // of the message
};

class BrokenDescriptor : public testing::TestWithParam<Broken> {};

TEST_P(BrokenDescriptor, IsRejectedInBothModes) {
  WireDescriptor wire = GetParam().make();
  ASSERT_NO_THROW(Decoded(wire)) << "apart from the rule, the descriptor must be valid";
  GetParam().breaks(wire);
  for (Mode mode : {Mode::kStrict, Mode::kPermissive}) {
    EXPECT_THAT([&] { Decoded(wire, mode); },
                ThrowsCode(ErrorCode::kInvalidDescriptor, GetParam().text));
  }
}

WireDescriptor Partition() { return Head(1, 0, 2); }
WireDescriptor Overlay() { return Head(2, 1, 1); }
WireDescriptor Group() { return Head(3, 0, 4); }
WireDescriptor TwoBuffers() {
  WireDescriptor wire = Plain();
  wire.handles = {{6, 64, 1}, {8, 64, 1}};
  return wire;
}
WireDescriptor Sharded() {
  WireDescriptor wire = Plain();
  wire.AddSection(kShardFlag, LittleEndian<uint64_t>({4, 3, 2, 0}));
  return wire;
}
WireDescriptor Quantized() {
  WireDescriptor wire = Plain();
  wire.AddSection(kQuantizationFlag, PerTensorSection());
  return wire;
}
WireDescriptor WithStatistics() {
  WireDescriptor wire = Plain();
  wire.AddSection(kStatisticsFlag, StatisticsSection());
  return wire;
}
WireDescriptor Member() {
  WireDescriptor wire = Plain();
  wire.AddSection(kMemberFlag, MemberSection(0));
  return wire;
}

INSTANTIATE_TEST_SUITE_P(
    Header, BrokenDescriptor,
    testing::Values(
        Broken{"MagicOfAFile", Plain, [](WireDescriptor& w) { w.magic = "HRRF"; }, "magic"},
        Broken{"MagicInLowerCase", Plain, [](WireDescriptor& w) { w.magic = "hrry"; }, "magic"},
        Broken{"VersionMajor0", Plain, [](WireDescriptor& w) { w.version_major = 0; },
               "version_major"},
        Broken{"VersionMajor2", Plain, [](WireDescriptor& w) { w.version_major = 2; },
               "version_major"},
        Broken{"LengthZero", Plain, [](WireDescriptor& w) { w.length = 0; }, "descriptor_length"},
        Broken{"LengthBelow20", Plain, [](WireDescriptor& w) { w.length = 19; },
               "descriptor_length"},
        Broken{"LengthOfTheHeaderAlone", Plain, [](WireDescriptor& w) { w.length = 20; },
               "truncated"},
        Broken{"LengthOneBeyondTheInput", Plain,
               [](WireDescriptor& w) { w.length = static_cast<uint32_t>(w.Encode().size() + 1); },
               "descriptor_length"},
        Broken{"LengthMaximum", Plain, [](WireDescriptor& w) { w.length = 0xFFFFFFFF; },
               "descriptor_length"},
        Broken{"LengthOneTooSmall", Plain,
               [](WireDescriptor& w) { w.length = static_cast<uint32_t>(w.Encode().size() - 1); },
               "truncated"},
        Broken{"LengthOneTooLarge", Plain, [](WireDescriptor& w) { w.sections = {0}; },
               "bytes are left"},
        Broken{"LengthOneTooLargeAfterSections", Member,
               [](WireDescriptor& w) { w.sections.push_back(0); }, "bytes are left"},
        Broken{"FlagBit5", Plain, [](WireDescriptor& w) { w.flags = 1u << 5; }, "flags"},
        Broken{"FlagBit16", Plain, [](WireDescriptor& w) { w.flags = 1u << 16; }, "flags"},
        Broken{"FlagBit31", Plain, [](WireDescriptor& w) { w.flags = 1u << 31; }, "flags"},
        Broken{"FlagBit5OfANewerMinor", Plain,
               [](WireDescriptor& w) { w.flags = 1u << 5, w.version_minor = 9; }, "flags"},
        Broken{"TypeTag00", Plain, [](WireDescriptor& w) { w.type_tag = 0x00; }, "type_tag"},
        Broken{"TypeTagFF", Plain, [](WireDescriptor& w) { w.type_tag = 0xFF; }, "type_tag"},
        Broken{"TypeTag47", Plain, [](WireDescriptor& w) { w.type_tag = 0x47; }, "type_tag"},
        Broken{"TypeTag80", Plain, [](WireDescriptor& w) { w.type_tag = 0x80; }, "type_tag"},
        Broken{"LayoutTag00", Plain, [](WireDescriptor& w) { w.layout_tag = 0x00; }, "layout_tag"},
        Broken{"LayoutTagFF", Plain, [](WireDescriptor& w) { w.layout_tag = 0xFF; }, "layout_tag"},
        Broken{"Rank65", Plain, [](WireDescriptor& w) { w.shape.assign(65, 1); }, "rank is 65"},
        Broken{"RankMaximum", Plain, [](WireDescriptor& w) { w.rank = 0xFFFFFFFF; }, "rank"},
        // 8 * rank is 2^32 here, which wraps to 0 in 32 bits.
        Broken{"RankWhoseBytesWrap", Plain, [](WireDescriptor& w) { w.rank = 0x20000000; }, "rank"},
        Broken{"RankMoreThanTheBytes", Plain, [](WireDescriptor& w) { w.rank = 64; }, "rank is 64"},
        Broken{"ByteOffsetBeyondBuffer0", Plain, [](WireDescriptor& w) { w.byte_offset = 7; },
               "byte_offset"},
        Broken{"ByteOffsetMaximum", Plain, [](WireDescriptor& w) { w.byte_offset = UINT64_MAX; },
               "byte_offset"},
        Broken{"ByteOffsetOfACompositeHead", Partition,
               [](WireDescriptor& w) { w.byte_offset = 1; }, "byte_offset"},
        Broken{"ExtensionFlagWithoutAPrivateType", Plain,
               [](WireDescriptor& w) { w.AddSection(kExtensionFlag, ExtensionSection()); },
               "extension_type"},
        Broken{"PrivateTypeWithoutExtensionFlag", Plain,
               [](WireDescriptor& w) { w.type_tag = 0xF3; }, "extension_type"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    BufferTable, BrokenDescriptor,
    testing::Values(
        Broken{"BufferCount0", Plain, [](WireDescriptor& w) { w.handles.clear(); }, "buffer_count"},
        Broken{"BufferCountOfACompositeHead", Partition,
               [](WireDescriptor& w) { w.handles = {{16}}; }, "buffer_count"},
        Broken{"BufferCountMoreThanTheBytes", Plain,
               [](WireDescriptor& w) { w.buffer_count = 255; }, "buffer_count is 255"},
        Broken{"BufferCountLessThanTheBytes", TwoBuffers,
               [](WireDescriptor& w) { w.buffer_count = 1; }, "bytes are left"},
        Broken{"HandleAlignment0", Plain, [](WireDescriptor& w) { w.handles[0].alignment = 0; },
               "alignment"},
        Broken{"HandleAlignment32", Plain, [](WireDescriptor& w) { w.handles[0].alignment = 32; },
               "alignment"},
        Broken{"HandleDevice09", Plain, [](WireDescriptor& w) { w.handles[0].device_tag = 9; },
               "device_tag"},
        Broken{"HandleSyncMode3", TwoBuffers, [](WireDescriptor& w) { w.handles[1].sync_mode = 3; },
               "buffer 1: sync_mode"},
        Broken{"HandleSyncModeOnCpu", Plain, [](WireDescriptor& w) { w.handles[0].sync_mode = 1; },
               "sync_mode"},
        Broken{"HandleMemoryClass4", TwoBuffers,
               [](WireDescriptor& w) { w.handles[0].memory_class = 4; }, "memory_class"},
        Broken{"HandleReserved", Plain, [](WireDescriptor& w) { w.handles[0].reserved = 1; },
               "reserved"},
        Broken{"HandleCpuPeer", Plain, [](WireDescriptor& w) { w.handles[0].memory_class = 3; },
               "memory_class"},
        Broken{"ColocationOfDevices", TwoBuffers,
               [](WireDescriptor& w) { w.handles[1].device_tag = 2; }, "buffer 1"},
        Broken{"ColocationOfMemoryClasses", TwoBuffers,
               [](WireDescriptor& w) { w.handles[1].memory_class = 2; }, "buffer 1"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Sections, BrokenDescriptor,
    testing::Values(
        Broken{"QuantizationLengthMaximum", Quantized,
               [](WireDescriptor& w) { std::fill_n(w.sections.begin(), 4, uint8_t{0xFF}); },
               "quantization"},
        Broken{"QuantizationLengthOneTooLarge", Quantized,
               [](WireDescriptor& w) { ++w.sections[0]; }, "quantization"},
        Broken{"QuantizationLengthTooSmallForItsScheme", Quantized,
               [](WireDescriptor& w) { w.sections[0] = 15; }, "truncated"},
        Broken{"QuantizationVersion2", Quantized, [](WireDescriptor& w) { w.sections[5] = 2; },
               "scheme_version"},
        Broken{"QuantizationFlagWithoutSection", Plain,
               [](WireDescriptor& w) { w.flags = kQuantizationFlag; }, "truncated"},
        Broken{"QuantizationOfACompositeHead", Partition,
               [](WireDescriptor& w) { w.AddSection(kQuantizationFlag, PerTensorSection()); },
               "composite head"},
        Broken{"ShardPastTheParent", Sharded, [](WireDescriptor& w) { w.sections[16] = 3; },
               "shard_offset[0]"},
        Broken{"ShardThatWraps", Sharded,
               [](WireDescriptor& w) {
                 std::fill_n(w.sections.begin() + 16, 8, uint8_t{0xFF});
                 w.sections[16] = 0xFE;
               },
               "shard_offset[0]"},
        Broken{"ShardCutShort", Sharded, [](WireDescriptor& w) { w.sections.pop_back(); },
               "truncated"},
        Broken{"ShardOfADynamicShape", Sharded,
               [](WireDescriptor& w) { w.shape[0] = kDynamicExtent; }, "shard"},
        Broken{"ShardOfADynamicParent", Sharded,
               [](WireDescriptor& w) { std::fill_n(w.sections.begin(), 8, uint8_t{0xFF}); },
               "parent_shape[0]"},
        Broken{"StatisticsMaskBit6", WithStatistics,
               [](WireDescriptor& w) { w.sections[0] = 0x40; }, "computed_mask"},
        Broken{"StatisticsReserved", WithStatistics, [](WireDescriptor& w) { w.sections[4] = 1; },
               "reserved"},
        Broken{"StatisticsReservedAtTheEnd", WithStatistics,
               [](WireDescriptor& w) { w.sections[71] = 1; }, "reserved"},
        Broken{"StatisticsCutShort", WithStatistics,
               [](WireDescriptor& w) { w.sections.pop_back(); }, "truncated"},
        Broken{"ExtensionBitWidth0", PrivatelyTyped, [](WireDescriptor& w) { w.sections[0] = 0; },
               "bit_width"},
        Broken{"ExtensionPackingFactor", PrivatelyTyped,
               [](WireDescriptor& w) { w.sections[4] = 2; }, "packing_factor"},
        Broken{"ExtensionReserved", PrivatelyTyped, [](WireDescriptor& w) { w.sections[19] = 1; },
               "reserved"},
        Broken{"ExtensionCutShort", PrivatelyTyped,
               [](WireDescriptor& w) { w.sections.pop_back(); }, "truncated"},
        Broken{"MemberRole2", Member, [](WireDescriptor& w) { w.sections[0] = 2; }, "member_role"},
        Broken{"MemberReserved", Member, [](WireDescriptor& w) { w.sections[15] = 1; }, "reserved"},
        Broken{"MemberOfACompositeHead", Overlay,
               [](WireDescriptor& w) { w.AddSection(kMemberFlag, MemberSection(0)); },
               "composite head"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    CompositeHead, BrokenDescriptor,
    testing::Values(
        Broken{"Rule00", Partition, [](WireDescriptor& w) { w.payload[0] = 0; },
               "composition_rule"},
        Broken{"Rule04", Partition, [](WireDescriptor& w) { w.payload[0] = 4; },
               "composition_rule"},
        Broken{"RuleEF", Partition, [](WireDescriptor& w) { w.payload[0] = 0xEF; },
               "composition_rule"},
        Broken{"RuleF0", Partition, [](WireDescriptor& w) { w.payload[0] = 0xF0; },
               "composition_rule"},
        Broken{"RuleFF", Partition, [](WireDescriptor& w) { w.payload[0] = 0xFF; },
               "composition_rule"},
        Broken{"PartitionWithCombineOp", Partition, [](WireDescriptor& w) { w.payload[1] = 1; },
               "combine_op"},
        Broken{"GroupWithCombineOp", Group, [](WireDescriptor& w) { w.payload[1] = 2; },
               "combine_op"},
        Broken{"OverlayWithoutCombineOp", Overlay, [](WireDescriptor& w) { w.payload[1] = 0; },
               "combine_op"},
        Broken{"OverlayWithCombineOp3", Overlay, [](WireDescriptor& w) { w.payload[1] = 3; },
               "combine_op"},
        Broken{"Reserved2", Partition, [](WireDescriptor& w) { w.payload[2] = 1; }, "reserved"},
        Broken{"Reserved3", Partition, [](WireDescriptor& w) { w.payload[3] = 0x80; }, "reserved"},
        Broken{"MemberCountMaximum", Partition,
               [](WireDescriptor& w) { std::fill_n(w.payload.begin() + 4, 4, uint8_t{0xFF}); },
               "member_count"},
        Broken{"PartitionOfADynamicShape", Partition,
               [](WireDescriptor& w) { w.shape[1] = kDynamicExtent; }, "dynamic"},
        Broken{"OverlayOfADynamicShape", Overlay,
               [](WireDescriptor& w) { w.shape[0] = kDynamicExtent; }, "dynamic"}),
    [](const auto& row) { return row.param.name; });

WireDescriptor Strided() {
  WireDescriptor wire = Plain();
  wire.layout_tag = 0x03;
  wire.payload = LittleEndian<int64_t>({3, 1});
  return wire;
}
WireDescriptor PrivateLayout() {
  WireDescriptor wire = Plain();
  wire.layout_tag = 0xF0;
  wire.payload = Bytes("0700000000000000 02000000 AABB");
  return wire;
}
void Enlarge(WireDescriptor& wire) {
  wire.shape.assign(64, uint64_t{1} << 63);
  if (wire.layout_tag == 0x03) wire.payload = LittleEndian(std::vector<int64_t>(64, INT64_MAX));
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, BrokenDescriptor,
    testing::Values(
        Broken{"RowMajorOneByteShort", Plain, [](WireDescriptor& w) { w.handles[0].byte_size = 5; },
               "need at least 6"},
        Broken{"ByteOffsetLeavesTooLittle", Plain, [](WireDescriptor& w) { w.byte_offset = 1; },
               "need at least 7"},
        Broken{"ColMajorOneByteShort",
               [] {
                 WireDescriptor w = Plain();
                 w.layout_tag = 0x02;
                 return w;
               },
               [](WireDescriptor& w) { w.handles[0].byte_size = 5; }, "need at least 6"},
        Broken{"SixtyFourDimensionsOf2To63", Plain, Enlarge, "64 bits"},
        Broken{"StridesOfSixtyFourDimensionsOf2To63", Strided, Enlarge, "64 bits"},
        Broken{"ProductThatWrapsToZero", Plain,
               [](WireDescriptor& w) { w.shape = {uint64_t{1} << 32, uint64_t{1} << 32}; },
               "64 bits"},
        Broken{"BytesThatWrap", Plain,
               [](WireDescriptor& w) { w.type_tag = 0x04, w.shape = {uint64_t{1} << 61}; },
               "64 bits"},
        Broken{"BytesPlusOffsetThatWrap", Plain,
               [](WireDescriptor& w) {
                 w.shape = {UINT64_MAX - 1};
                 w.byte_offset = 2;
                 w.handles[0].byte_size = UINT64_MAX;
               },
               "64 bits"},
        Broken{"StridesCutShort", Strided, [](WireDescriptor& w) { w.payload.resize(8); }, ""},
        Broken{"StridesPastTheEnd", Strided, [](WireDescriptor& w) { w.payload[8] = 2; },
               "need at least 8"},
        Broken{"StridesBelowTheStart", Strided,
               [](WireDescriptor& w) { std::fill_n(w.payload.begin() + 8, 8, uint8_t{0xFF}); },
               "below the start"},
        Broken{"StridedScalar", Strided,
               [](WireDescriptor& w) { w.shape.clear(), w.payload.clear(); }, "rank"}),
    [](const auto& row) { return row.param.name; });

// Without stored elements.
WireDescriptor Sparse(uint8_t layout_tag) {
  WireDescriptor wire;
  wire.layout_tag = layout_tag;
  wire.shape = {1, 1};
  wire.payload.assign(16, 0);
  wire.handles = {{0}, {0}};
  if (layout_tag != 0x06) wire.handles.push_back({16});
  return wire;
}
WireDescriptor Coo() { return Sparse(0x06); }
WireDescriptor Csr() { return Sparse(0x07); }
WireDescriptor Csc() { return Sparse(0x08); }
WireDescriptor Csf() {
  WireDescriptor wire;
  wire.layout_tag = 0x09;
  wire.shape = {1, 1, 1};
  wire.payload = Bytes("0000000000000000 00000000 01000000 02000000 0000000000000000");
  wire.handles = {{0}, {16}, {0}, {8}, {0}, {8}, {0}};
  return wire;
}
// One page of four tokens, no sequence.
WireDescriptor BlockPaged() {
  WireDescriptor wire;
  wire.layout_tag = 0x0A;
  wire.shape = {4, 1, 1};
  wire.payload = Bytes("04000000 0100000000000000 00000000 00000000 00 FFFFFFFF 00 000000000000");
  wire.handles = {{4}, {0}, {4}};
  return wire;
}
void AddShard(WireDescriptor& wire) {
  auto section = wire.shape;
  section.insert(section.end(), wire.shape.size(), 0);
  wire.AddSection(kShardFlag, LittleEndian(section));
}
void AddByteOffset(WireDescriptor& wire) {
  wire.handles[0].byte_size += 8;
  wire.byte_offset = 8;
}
// Symmetric, with its scales in buffer 3.
void AddPerChannel(WireDescriptor& wire, uint8_t axis) {
  auto section = Bytes("14000000 02010100 00000000 03000000 FFFFFFFF 03000000");
  section[8] = axis;
  wire.handles.push_back({4});
  wire.AddSection(kQuantizationFlag, section);
}
void AddPerBlock(WireDescriptor& wire, uint8_t axis, uint8_t block_size) {
  auto section = Bytes("18000000 03010100 00000000 00000000 03000000 FFFFFFFF 03000000");
  section[8] = axis;
  section[12] = block_size;
  wire.handles.push_back({16});
  wire.AddSection(kQuantizationFlag, section);
}

INSTANTIATE_TEST_SUITE_P(
    SparseAndPaged, BrokenDescriptor,
    testing::Values(Broken{"ByteOffsetOfCoo", Coo, AddByteOffset, "byte_offset"},
                    Broken{"ByteOffsetOfCsr", Csr, AddByteOffset, "byte_offset"},
                    Broken{"ByteOffsetOfCsc", Csc, AddByteOffset, "byte_offset"},
                    Broken{"ByteOffsetOfCsf", Csf, AddByteOffset, "byte_offset"},
                    Broken{"ByteOffsetOfBlockPaged", BlockPaged, AddByteOffset, "byte_offset"},
                    Broken{"ShardOfCsf", Csf, AddShard, "shard"},
                    Broken{"ShardOfBlockPaged", BlockPaged, AddShard, "shard"},
                    Broken{"PerChannelAxis0OfBlockPaged", BlockPaged,
                           [](WireDescriptor& w) { AddPerChannel(w, 0); }, "axis"},
                    Broken{"PerBlockAxis1OfBlockPaged", BlockPaged,
                           [](WireDescriptor& w) { AddPerBlock(w, 1, 4); }, "axis"},
                    Broken{"PerBlockSizeOtherThanAPageOfBlockPaged", BlockPaged,
                           [](WireDescriptor& w) { AddPerBlock(w, 0, 2); }, "block_size"},
                    Broken{"QuantizationParametersInAnIndexBuffer", Csr,
                           [](WireDescriptor& w) {
                             w.AddSection(
                                 kQuantizationFlag,
                                 Bytes("14000000 02010100 00000000 02000000 FFFFFFFF 03000000"));
                           },
                           "layout"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(PrivateLayouts, BrokenDescriptor,
                         testing::Values(Broken{"DataLengthMaximum", PrivateLayout,
                                                [](WireDescriptor& w) {
                                                  std::fill_n(w.payload.begin() + 8, 4,
                                                              uint8_t{0xFF});
                                                },
                                                "extension_data"},
                                         Broken{"NoBuffer", PrivateLayout,
                                                [](WireDescriptor& w) { w.handles.clear(); },
                                                "buffer_count"},
                                         Broken{"DataLengthOneTooSmall", PrivateLayout,
                                                [](WireDescriptor& w) { w.payload[8] = 1; }, ""}),
                         [](const auto& row) { return row.param.name; });

// ---- what is legal

struct Legal {
  std::string name;
  WireDescriptor (*make)();
};

class LegalDescriptor : public testing::TestWithParam<Legal> {};

TEST_P(LegalDescriptor, IsEncodedAgainByteForByte) {
  auto bytes = GetParam().make().Encode();
  TensorDescriptor descriptor = TensorDescriptor::Decode(bytes);
  EXPECT_EQ(descriptor.Encode(), bytes);
  EXPECT_EQ(descriptor.encoded_size(), bytes.size());
  EXPECT_EQ(TensorDescriptor::Decode(bytes), descriptor);
  EXPECT_EQ(TensorDescriptor::DeclaredLength(std::span(bytes).first(10)), bytes.size());
}

TEST_P(LegalDescriptor, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(GetParam().make().Encode(), [](std::span<const uint8_t> input) {
    for (Mode mode : {Mode::kStrict, Mode::kPermissive}) {
      EXPECT_THAT([&] { TensorDescriptor::Decode(input, mode); },
                  ThrowsCode(ErrorCode::kInvalidDescriptor));
    }
  });
}

TEST_P(LegalDescriptor, NeedsEveryByteThatItsLengthFieldCounts) {
  auto bytes = GetParam().make().Encode();
  GuardedBytes guarded(bytes.size());
  for (uint32_t length = 0; length < bytes.size(); ++length) {
    auto cut = std::vector<uint8_t>(bytes.begin(), bytes.begin() + length);
    if (length >= 10) {
      ByteWriter(std::span(cut).subspan(6)).WriteU32(length);
    }
    try {
      TensorDescriptor descriptor = TensorDescriptor::Decode(guarded.Place(cut));
      // Only what is cut off the tail of a newer minor version is not missed.
      EXPECT_GT(descriptor.version_minor(), 0) << length;
      EXPECT_EQ(descriptor.Encode(), cut);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidDescriptor) << length;
    }
  }
}

TEST_P(LegalDescriptor, LeavesTheBytesBehindItAlone) {
  auto bytes = GetParam().make().Encode();
  auto longer = bytes;
  longer.push_back(0xEE);
  EXPECT_EQ(TensorDescriptor::Decode(longer).Encode(), bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, LegalDescriptor,
    testing::Values(Legal{"Plain", Plain}, Legal{"Strided", Strided},
                    Legal{"PrivateLayout", PrivateLayout}, Legal{"PrivateType", PrivatelyTyped},
                    Legal{"Partition", Partition}, Legal{"Overlay", Overlay}, Legal{"Group", Group},
                    Legal{"Sharded", Sharded}, Legal{"Quantized", Quantized},
                    Legal{"Statistics", WithStatistics}, Legal{"Member", Member},
                    Legal{"EverySection", WithEverySection}, Legal{"Coo", Coo}, Legal{"Csr", Csr},
                    Legal{"Csc", Csc}, Legal{"Csf", Csf}, Legal{"BlockPaged", BlockPaged},
                    Legal{"ShardedCsr",
                          [] {
                            WireDescriptor wire = Csr();
                            AddShard(wire);
                            return wire;
                          }},
                    Legal{"BlockPagedPerChannel",
                          [] {
                            WireDescriptor wire = BlockPaged();
                            AddPerChannel(wire, 2);
                            return wire;
                          }},
                    Legal{"BlockPagedPerBlock",
                          [] {
                            WireDescriptor wire = BlockPaged();
                            AddPerBlock(wire, 0, 4);
                            return wire;
                          }},
                    Legal{"Scalar",
                          [] {
                            WireDescriptor wire;
                            wire.handles = {{1}};
                            return wire;
                          }},
                    Legal{"ColMajorScalar",
                          [] {
                            WireDescriptor wire;
                            wire.layout_tag = 0x02;
                            wire.handles = {{1}};
                            return wire;
                          }},
                    Legal{"ScalarOfAPrivateLayout",
                          [] {
                            WireDescriptor wire = PrivateLayout();
                            wire.shape.clear();
                            return wire;
                          }},
                    Legal{"ScalarCompositeHead",
                          [] {
                            WireDescriptor wire = Group();
                            wire.shape.clear();
                            return wire;
                          }},
                    Legal{"Empty",
                          [] {
                            WireDescriptor wire;
                            wire.shape = {0, uint64_t{1} << 63, uint64_t{1} << 63};
                            wire.handles = {{0, 1}};
                            return wire;
                          }},
                    Legal{"EmptyBehindAByteOffset",
                          [] {
                            WireDescriptor wire;
                            wire.shape = {0};
                            wire.byte_offset = 9;
                            wire.handles = {{9}};
                            return wire;
                          }},
                    Legal{"Dynamic",
                          [] {
                            WireDescriptor wire;
                            wire.shape = {kDynamicExtent, uint64_t{1} << 63};
                            wire.handles = {{0, 64}};
                            return wire;
                          }},
                    Legal{"DynamicGroup",
                          [] {
                            WireDescriptor wire = Group();
                            wire.shape = {kDynamicExtent};
                            return wire;
                          }},
                    Legal{"LargestMemberCount", [] { return Head(3, 0, 0xFFFFFFFE); }},
                    Legal{"BroadcastAndReversed",
                          [] {
                            WireDescriptor wire = Strided();
                            wire.payload = LittleEndian<int64_t>({0, -1});
                            wire.byte_offset = 2;
                            return wire;
                          }},
                    Legal{"SurplusBuffers",
                          [] {
                            WireDescriptor wire = Plain();
                            wire.handles.resize(255);
                            return wire;
                          }},
                    Legal{"Rank64",
                          [] {
                            WireDescriptor wire;
                            wire.shape.assign(64, 1);
                            wire.handles = {{1}};
                            return wire;
                          }},
                    Legal{"LargestBuffer",
                          [] {
                            WireDescriptor wire;
                            wire.shape = {UINT64_MAX - 1};
                            wire.handles = {{UINT64_MAX}};
                            return wire;
                          }},
                    Legal{"OnAnotherDevice",
                          [] {
                            WireDescriptor wire = Plain();
                            wire.handles = {{6, 64, 1, 0, 3}, {0, 1, 1, 1, 3}};
                            return wire;
                          }},
                    Legal{"QuantizationWithTrailingBytes",
                          [] {
                            WireDescriptor wire = Plain();
                            auto section = PerTensorSection();
                            section[0] = 19;
                            for (int i = 1; i <= 3; ++i) section.push_back(static_cast<uint8_t>(i));
                            wire.AddSection(kQuantizationFlag, section);
                            return wire;
                          }},
                    Legal{"NewerMinor",
                          [] {
                            WireDescriptor wire = Plain();
                            wire.version_minor = 1;
                            return wire;
                          }},
                    Legal{"NewestMinorWithTail",
                          [] {
                            WireDescriptor wire = WithEverySection();
                            wire.version_minor = 255;
                            for (int i = 0; i < 9; ++i)
                              wire.sections.push_back(static_cast<uint8_t>(i));
                            return wire;
                          }}),
    [](const auto& row) { return row.param.name; });

TEST(TensorDescriptor, TellsItsParts) {
  WireDescriptor wire = Strided();
  wire.byte_offset = 4;
  wire.handles = {{10, 128, 1, 0, 1}, {0, 1, 1, 2, 1}};
  TensorDescriptor descriptor = Decoded(wire);
  EXPECT_EQ(descriptor.dtype(), ElementTypes::kUint8);
  EXPECT_EQ(descriptor.rank(), 2u);
  EXPECT_THAT(descriptor.shape(), testing::ElementsAre(2, 3));
  EXPECT_EQ(descriptor.byte_offset(), 4u);
  EXPECT_EQ(std::get<StridedLayout>(descriptor.layout()).strides, (Strides{3, 1}));
  ASSERT_EQ(descriptor.buffers().size(), 2u);
  EXPECT_EQ(descriptor.buffers()[0].alignment, 128u);
  EXPECT_EQ(descriptor.device(), (Device{1, 1}));
  EXPECT_EQ(descriptor.sync_mode(), SyncMode::kConsumerStream);
  EXPECT_EQ(descriptor.version_minor(), 0);
  EXPECT_EQ(descriptor.shared_sections(), nullptr);
}

TEST(TensorDescriptor, ReadsSectionsInTheOrderOfTheWire) {
  TensorDescriptor descriptor = Decoded(WithEverySection());
  ASSERT_NE(descriptor.quantization(), nullptr);
  EXPECT_EQ(descriptor.quantization()->scheme, QuantizationScheme(PerTensorAffine{1, 0}));
  ASSERT_NE(descriptor.shard(), nullptr);
  EXPECT_EQ(descriptor.shard()->offset(), (Shape{2, 0}));
  ASSERT_NE(descriptor.statistics(), nullptr);
  ASSERT_NE(descriptor.extension_type(), nullptr);
  EXPECT_EQ(descriptor.extension_type()->bit_width, 8u);
  EXPECT_EQ(descriptor.member_role(), MemberRole::kBase);
}

TEST(TensorDescriptor, RejectsStatisticsBehindTheExtensionType) {
  WireDescriptor wire = Plain();
  wire.type_tag = 0xF0;
  wire.AddSection(kExtensionFlag, ExtensionSection());
  wire.AddSection(kStatisticsFlag, StatisticsSection());
  EXPECT_THAT([&] { Decoded(wire); }, ThrowsCode(ErrorCode::kInvalidDescriptor));
}

TEST(TensorDescriptor, OfANewerMinorKeepsItsTail) {
  WireDescriptor wire = Plain();
  wire.version_minor = 7;
  wire.sections = Bytes("DE AD BE EF");
  TensorDescriptor descriptor = Decoded(wire);
  EXPECT_EQ(descriptor.version_minor(), 7);
  EXPECT_EQ(descriptor.sections().tail, Bytes("DE AD BE EF"));
  EXPECT_FALSE(descriptor == Decoded(Plain()));
}

TEST(TensorDescriptor, ChangesItsRoleAndNothingElse) {
  TensorDescriptor plain = Decoded(Plain());
  TensorDescriptor base = plain.WithMemberRole(MemberRole::kBase);
  WireDescriptor expected = Plain();
  expected.AddSection(kMemberFlag, MemberSection(1));
  EXPECT_EQ(base.Encode(), expected.Encode());
  EXPECT_EQ(base.WithMemberRole(MemberRole::kBase), base);
  EXPECT_EQ(base.WithMemberRole(std::nullopt).shared_sections(), nullptr);
  EXPECT_EQ(base.WithMemberRole(std::nullopt), plain);
  EXPECT_EQ(Decoded(WithEverySection()).WithMemberRole(MemberRole::kCorrection).member_role(),
            MemberRole::kCorrection);
  EXPECT_EQ(MemberRoleName(MemberRole::kBase), "base");
  EXPECT_EQ(MemberRoleName(MemberRole::kCorrection), "correction");
}

TEST(TensorDescriptor, DiffersInEachOfItsParts) {
  TensorDescriptor plain = Decoded(Plain());
  auto changed = [](void (*change)(WireDescriptor&)) {
    WireDescriptor wire = Plain();
    change(wire);
    return Decoded(wire);
  };
  EXPECT_FALSE(plain == changed([](WireDescriptor& w) { w.type_tag = 0x10; }));
  EXPECT_FALSE(plain == changed([](WireDescriptor& w) { w.shape = {3, 2}; }));
  EXPECT_FALSE(plain == changed([](WireDescriptor& w) { w.layout_tag = 0x02; }));
  EXPECT_FALSE(plain == changed([](WireDescriptor& w) { w.handles[0].alignment = 128; }));
  EXPECT_FALSE(plain == changed([](WireDescriptor& w) { w.handles[0].byte_size = 7; }));
  EXPECT_FALSE(plain == changed([](WireDescriptor& w) { w.version_minor = 1; }));
  EXPECT_EQ(plain, changed([](WireDescriptor&) {}));
}

TEST(TensorDescriptor, ReportsASizeThatIsTooSmallWithTheCodeOfTheCaller) {
  TensorDescriptor descriptor = Described(ElementTypes::kFloat32, {3, 4}, RowMajorLayout{}, {47});
  EXPECT_THAT([&] { descriptor.Validate(ErrorCode::kBuffer); },
              ThrowsCode(ErrorCode::kBuffer, "need at least 48"));
  EXPECT_THAT([&] { descriptor.Validate(ErrorCode::kInvalidDescriptor); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "need at least 48"));
}

TEST(TensorDescriptor, RejectsPartsThatNoWireCanHold) {
  EXPECT_THAT(
      [] {
        TensorDescriptor(ElementTypes::kUint8, Shape(65), RowMajorLayout{}, BuffersOf({0}))
            .Validate(ErrorCode::kBuffer);
      },
      ThrowsCode(ErrorCode::kInvalidDescriptor, "rank 65"));
  EXPECT_THAT(
      [] {
        TensorDescriptor(ElementTypes::kUint8, Shape{0}, RowMajorLayout{}, BufferTable(256))
            .Validate(ErrorCode::kBuffer);
      },
      ThrowsCode(ErrorCode::kInvalidDescriptor, "256 buffers"));
}

TEST(DeclaredLength, NeedsTheFirstTenBytesOnly) {
  auto bytes = Plain().Encode();
  ForEveryShorterInput(std::span(bytes).first(10), [](std::span<const uint8_t> input) {
    EXPECT_THAT([&] { TensorDescriptor::DeclaredLength(input); },
                ThrowsCode(ErrorCode::kInvalidDescriptor, "truncated"));
  });
  EXPECT_EQ(TensorDescriptor::DeclaredLength(bytes), bytes.size());
}

TEST(DeclaredLength, IsCheckedAfterTheVersion) {
  WireDescriptor wire = Plain();
  wire.version_major = 9;
  wire.length = 0;
  EXPECT_THAT([&] { Decoded(wire); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "version_major"));
}

}  // namespace
}  // namespace hurray
