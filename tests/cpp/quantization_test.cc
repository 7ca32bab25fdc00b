#include "core/quantization.h"

#include <limits>
#include <string>

#include "guarded_bytes.h"
#include "testing.h"

namespace hurray {
namespace {

// One valid section of each scheme.
constexpr std::string_view kPerTensor = "01 01 0000 CDCC4C3D 80000000 00000000";
constexpr std::string_view kPerChannel = "02 01 0000 01000000 01000000 02000000 03 000000";
constexpr std::string_view kPerChannelSymmetric = "02 01 0100 01000000 01000000 FFFFFFFF 03 000000";
constexpr std::string_view kPerBlock = "03 01 0000 01000000 80000000 01000000 02000000 01 000000";
constexpr std::string_view kPerBlockSymmetric =
    "03 01 0100 01000000 80000000 01000000 FFFFFFFF 01 000000";
constexpr std::string_view kNf4 = "04 01 0000 00000000 40000000 01000000";
constexpr std::string_view kMxfp = "05 01 0000 02000000 20000000 01000000";

std::vector<uint8_t> Encoded(const Quantization& quantization) {
  std::vector<uint8_t> bytes(quantization.encoded_size(), 0xEE);
  ByteWriter out(bytes);
  quantization.Encode(out);
  EXPECT_EQ(out.remaining(), 0u);
  return bytes;
}

TEST(Quantization, DecodesPerTensor) {
  Quantization decoded = Quantization::Decode(Bytes(kPerTensor));
  EXPECT_EQ(decoded.scheme, QuantizationScheme(PerTensorAffine{0.05f, 128}));
  EXPECT_EQ(decoded.axis(), std::nullopt);
  EXPECT_EQ(decoded.scale_buffer_index(), std::nullopt);
  EXPECT_EQ(decoded.zero_point_buffer_index(), std::nullopt);
}

TEST(Quantization, DecodesPerChannel) {
  Quantization decoded = Quantization::Decode(Bytes(kPerChannel));
  EXPECT_EQ(decoded.scheme, QuantizationScheme(PerChannelAffine{1, 1, 2}));
  EXPECT_EQ(decoded.axis(), 1u);
  EXPECT_EQ(decoded.scale_buffer_index(), 1u);
  EXPECT_EQ(decoded.zero_point_buffer_index(), 2u);
}

TEST(Quantization, DecodesSymmetricSchemesWithoutZeroPoints) {
  EXPECT_EQ(Quantization::Decode(Bytes(kPerChannelSymmetric)).zero_point_buffer_index(),
            std::nullopt);
  EXPECT_EQ(Quantization::Decode(Bytes(kPerBlockSymmetric)).zero_point_buffer_index(),
            std::nullopt);
}

TEST(Quantization, DecodesPerBlock) {
  Quantization decoded = Quantization::Decode(Bytes(kPerBlock));
  EXPECT_EQ(decoded.scheme,
            QuantizationScheme(PerBlockAffine{1, 128, 1, 2, ElementTypes::kFloat16}));
}

TEST(Quantization, DecodesNf4) {
  EXPECT_EQ(Quantization::Decode(Bytes(kNf4)).scheme, QuantizationScheme(Nf4{0, 64, 1}));
}

TEST(Quantization, DecodesMxfp) {
  Quantization decoded = Quantization::Decode(Bytes(kMxfp));
  EXPECT_EQ(decoded.scheme, QuantizationScheme(Mxfp{2, 32, 1}));
  EXPECT_EQ(decoded.axis(), 2u);
}

// ---- every scheme

struct Section {
  std::string name;
  std::string_view hex;
};

class QuantizationSection : public testing::TestWithParam<Section> {};

TEST_P(QuantizationSection, IsEncodedAgain) {
  auto bytes = Bytes(GetParam().hex);
  EXPECT_EQ(Encoded(Quantization::Decode(bytes)), bytes);
}

TEST_P(QuantizationSection, KeepsTheBytesThatFollowItsFields) {
  auto bytes = Bytes(GetParam().hex);
  for (uint8_t byte : {uint8_t{1}, uint8_t{0}, uint8_t{255}}) bytes.push_back(byte);
  Quantization decoded = Quantization::Decode(bytes);
  EXPECT_EQ(decoded.trailing, Bytes("01 00 FF"));
  EXPECT_EQ(Encoded(decoded), bytes);
}

TEST_P(QuantizationSection, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(Bytes(GetParam().hex), [](std::span<const uint8_t> input) {
    EXPECT_THAT([&] { Quantization::Decode(input); },
                ThrowsCode(ErrorCode::kInvalidDescriptor, "truncated"));
  });
}

TEST_P(QuantizationSection, WithAnyOneByteChangedIsRefusedOrEncodedAgain) {
  auto bytes = Bytes(GetParam().hex);
  for (size_t at = 0; at < bytes.size(); ++at) {
    uint8_t original = bytes[at];
    for (unsigned value = 0; value < 256; ++value) {
      bytes[at] = static_cast<uint8_t>(value);
      try {
        EXPECT_EQ(Encoded(Quantization::Decode(bytes)), bytes) << "byte " << at;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidDescriptor) << "byte " << at;
      }
    }
    bytes[at] = original;
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, QuantizationSection,
                         testing::Values(Section{"PerTensor", kPerTensor},
                                         Section{"PerChannel", kPerChannel},
                                         Section{"PerChannelSymmetric", kPerChannelSymmetric},
                                         Section{"PerBlock", kPerBlock},
                                         Section{"PerBlockSymmetric", kPerBlockSymmetric},
                                         Section{"Nf4", kNf4}, Section{"Mxfp", kMxfp}),
                         [](const auto& row) { return row.param.name; });

// ---- rules

struct Broken {
  std::string name;
  std::string_view hex;
  std::string text;  // of the message
};

class BrokenQuantization : public testing::TestWithParam<Broken> {};

TEST_P(BrokenQuantization, IsRejected) {
  auto bytes = Bytes(GetParam().hex);
  EXPECT_THAT([&] { Quantization::Decode(bytes); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BrokenQuantization,
    testing::Values(
        Broken{"SchemeTag00", "00 01 0000 CDCC4C3D 80000000 00000000", "never valid"},
        Broken{"SchemeTagFF", "FF 01 0000 CDCC4C3D 80000000 00000000", "never valid"},
        Broken{"SchemeTag06Unassigned", "06 01 0000 CDCC4C3D 80000000 00000000", "unassigned"},
        Broken{"SchemeTag60Nested", "60 01 0000 CDCC4C3D 80000000 00000000", "scheme_tag"},
        Broken{"SchemeTag80Reserved", "80 01 0000 CDCC4C3D 80000000 00000000", "reserved"},
        Broken{"SchemeTagF0Private", "F0 01 0000 CDCC4C3D 80000000 00000000", "private"},
        Broken{"SchemeVersion0", "01 00 0000 CDCC4C3D 80000000 00000000", "scheme_version"},
        Broken{"SchemeVersion2", "01 02 0000 CDCC4C3D 80000000 00000000", "scheme_version"},
        Broken{"FlagBit0OfPerTensor", "01 01 0100 CDCC4C3D 80000000 00000000", "flags"},
        Broken{"FlagBit1OfPerChannel", "02 01 0200 01000000 01000000 02000000 03 000000", "flags"},
        Broken{"FlagBit15OfPerBlock", "03 01 0080 01000000 80000000 01000000 02000000 01 000000",
               "flags"},
        Broken{"FlagBit0OfNf4", "04 01 0100 00000000 40000000 01000000", "flags"},
        Broken{"FlagBit0OfMxfp", "05 01 0100 02000000 20000000 01000000", "flags"},
        Broken{"PerTensorScaleZero", "01 01 0000 00000000 80000000 00000000", "scale"},
        Broken{"PerTensorScaleMinusZero", "01 01 0000 00000080 80000000 00000000", "scale"},
        Broken{"PerTensorScaleNan", "01 01 0000 0000C07F 80000000 00000000", "scale"},
        Broken{"PerTensorScaleInfinite", "01 01 0000 0000807F 80000000 00000000", "scale"},
        Broken{"PerTensorReserved", "01 01 0000 CDCC4C3D 80000000 00000001", "reserved"},
        Broken{"PerChannelAxis64", "02 01 0000 40000000 01000000 02000000 03 000000", "axis"},
        Broken{"PerChannelScaleIndexNone", "02 01 0000 01000000 FFFFFFFF 02000000 03 000000",
               "scale_buffer_index"},
        Broken{"PerChannelZeroPointNoneWithoutSymmetric",
               "02 01 0000 01000000 01000000 FFFFFFFF 03 000000", "zero_point_buffer_index"},
        Broken{"PerChannelZeroPointWithSymmetric",
               "02 01 0100 01000000 01000000 02000000 03 000000", "symmetric"},
        Broken{"PerChannelScaleTypeFloat16", "02 01 0000 01000000 01000000 02000000 01 000000",
               "scale_type"},
        Broken{"PerChannelScaleType04", "02 01 0000 01000000 01000000 02000000 04 000000",
               "scale_type"},
        Broken{"PerChannelReserved", "02 01 0000 01000000 01000000 02000000 03 000100", "reserved"},
        Broken{"PerBlockAxisMaximum", "03 01 0000 FFFFFFFF 80000000 01000000 02000000 01 000000",
               "axis"},
        Broken{"PerBlockSize0", "03 01 0000 01000000 00000000 01000000 02000000 01 000000",
               "block_size"},
        Broken{"PerBlockSize1", "03 01 0000 01000000 01000000 01000000 02000000 01 000000",
               "block_size"},
        Broken{"PerBlockSize96", "03 01 0000 01000000 60000000 01000000 02000000 01 000000",
               "block_size"},
        Broken{"PerBlockScaleIndexNone", "03 01 0000 01000000 80000000 FFFFFFFF 02000000 01 000000",
               "scale_buffer_index"},
        Broken{"PerBlockZeroPointNoneWithoutSymmetric",
               "03 01 0000 01000000 80000000 01000000 FFFFFFFF 01 000000",
               "zero_point_buffer_index"},
        Broken{"PerBlockZeroPointWithSymmetric",
               "03 01 0100 01000000 80000000 01000000 02000000 01 000000", "symmetric"},
        Broken{"PerBlockScaleType00", "03 01 0000 01000000 80000000 01000000 02000000 00 000000",
               "scale_type"},
        Broken{"PerBlockScaleTypeFloat64",
               "03 01 0000 01000000 80000000 01000000 02000000 04 000000", "scale_type"},
        Broken{"PerBlockReserved", "03 01 0000 01000000 80000000 01000000 02000000 01 000080",
               "reserved"},
        Broken{"Nf4Size4", "04 01 0000 00000000 04000000 01000000", "block_size"},
        Broken{"Nf4Size24", "04 01 0000 00000000 18000000 01000000", "block_size"},
        Broken{"Nf4Axis64", "04 01 0000 40000000 40000000 01000000", "axis"},
        Broken{"Nf4ScaleIndexNone", "04 01 0000 00000000 40000000 FFFFFFFF", "scale_buffer_index"},
        Broken{"MxfpSize8", "05 01 0000 02000000 08000000 01000000", "block_size"},
        Broken{"MxfpSize48", "05 01 0000 02000000 30000000 01000000", "block_size"},
        Broken{"MxfpSize4096", "05 01 0000 02000000 00100000 01000000", "block_size"},
        Broken{"MxfpScaleIndexNone", "05 01 0000 02000000 20000000 FFFFFFFF",
               "scale_buffer_index"}),
    [](const auto& row) { return row.param.name; });

class UnusualQuantization : public testing::TestWithParam<Section> {};

TEST_P(UnusualQuantization, IsAccepted) {
  auto bytes = Bytes(GetParam().hex);
  EXPECT_EQ(Encoded(Quantization::Decode(bytes)), bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, UnusualQuantization,
    testing::Values(
        Section{"NegativeScale", "01 01 0000 CDCC4CBD 80000000 00000000"},
        Section{"SmallestScale", "01 01 0000 01000000 80000000 00000000"},
        Section{"SmallestZeroPoint", "01 01 0000 CDCC4C3D 00000080 00000000"},
        Section{"LargestAxis", "02 01 0000 3F000000 01000000 02000000 03 000000"},
        Section{"SharedScaleAndZeroPointBuffer", "02 01 0000 01000000 01000000 01000000 03 000000"},
        Section{"LargestBlock", "03 01 0000 01000000 00000080 01000000 02000000 03 000000"},
        Section{"SmallestBlock", "03 01 0000 01000000 02000000 01000000 02000000 02 000000"},
        Section{"SmallestNf4Block", "04 01 0000 00000000 08000000 01000000"},
        Section{"SmallestMxfpBlock", "05 01 0000 02000000 10000000 01000000"},
        Section{"LargestMxfpBlock", "05 01 0000 02000000 00080000 01000000"}),
    [](const auto& row) { return row.param.name; });

// ---- where the parameters lie

struct Placement {
  std::string name;
  uint32_t scale;
  std::optional<uint32_t> zero_point;
  size_t buffer_count;
  size_t layout_buffers;
  std::string text;
};

class MisplacedParameters : public testing::TestWithParam<Placement> {};

TEST_P(MisplacedParameters, AreRejected) {
  const Placement& row = GetParam();
  Quantization quantization{PerChannelAffine{0, row.scale, row.zero_point}, {}};
  EXPECT_THAT([&] { quantization.CheckPlacement(row.buffer_count, row.layout_buffers); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, row.text));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, MisplacedParameters,
    testing::Values(Placement{"ScaleIndexPastTheTable", 2, {}, 2, 1, "out of range"},
                    Placement{"ScaleIndexHuge", 0xFFFFFFFE, {}, 2, 1, "out of range"},
                    Placement{"ScaleInDataBuffer", 0, {}, 2, 1, "data buffer"},
                    Placement{"ScaleInIndexBuffer", 2, {}, 4, 3, "layout"},
                    Placement{"ZeroPointIndexPastTheTable", 1, 2, 2, 1, "zero_point"},
                    Placement{"ZeroPointInDataBuffer", 1, 0, 2, 1, "zero_point"}),
    [](const auto& row) { return row.param.name; });

TEST(Quantization, AcceptsParametersBehindTheLayoutsOwnBuffers) {
  Quantization quantization{PerChannelAffine{0, 3, 4}, {}};
  EXPECT_NO_THROW(quantization.CheckPlacement(5, 3));
  EXPECT_NO_THROW((Quantization{PerTensorAffine{1, 0}, {}}).CheckPlacement(1, 1));
}

TEST(PerBlockAffine, RejectsAScaleTypeThatIsNoShortFloat) {
  PerBlockAffine scheme{0, 32, 1, {}, ElementTypes::kFloat64};
  EXPECT_THAT([&] { scheme.Check(); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "float64"));
}

TEST(PerChannelAffine, RejectsAnIndexThatStandsForNoBuffer) {
  PerChannelAffine scheme{0, 1, kNoBufferIndex};
  EXPECT_THAT([&] { scheme.Check(); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "zero_point_buffer_index"));
}

}  // namespace
}  // namespace hurray
