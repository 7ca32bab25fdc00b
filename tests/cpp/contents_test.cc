#include "core/contents.h"

#include <bit>
#include <cmath>
#include <limits>

#include "testing.h"

namespace hurray {
namespace {

using Buffers = std::vector<std::vector<uint8_t>>;
using Numbers = std::vector<uint64_t>;

std::vector<uint8_t> Floats(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return LittleEndian<uint32_t>(bits);
}

DescriptorSections Quantized(QuantizationScheme scheme) {
  DescriptorSections sections;
  sections.quantization = Quantization{std::move(scheme), {}};
  return sections;
}

// Checks a tensor whose buffers are declared as large as they are.
void Check(ElementType dtype, const Numbers& shape, Layout layout, const Buffers& buffers,
           DescriptorSections sections) {
  Numbers sizes;
  for (const auto& buffer : buffers) sizes.push_back(buffer.size());
  TensorDescriptor descriptor =
      Described(dtype, shape, std::move(layout), sizes, std::move(sections));
  descriptor.Validate(ErrorCode::kBuffer);  // readers accept all that is refused here
  auto spans = Spans(buffers);
  CheckContents(descriptor, spans);
}

// A row-major tensor with zeros for data, then its parameters.
void CheckQuantized(ElementType dtype, const Numbers& shape, QuantizationScheme scheme,
                    const Buffers& parameters) {
  Buffers buffers{std::vector<uint8_t>(1024)};
  buffers.insert(buffers.end(), parameters.begin(), parameters.end());
  Check(dtype, shape, RowMajorLayout{}, buffers, Quantized(std::move(scheme)));
}

auto IsRefused(const std::string& message) {
  return ThrowsCode(ErrorCode::kInvalidDescriptor, message);
}

PerChannelAffine Channels(uint32_t axis, std::optional<uint32_t> zero_points = std::nullopt) {
  return {axis, 1, zero_points};
}
PerBlockAffine Blocks(uint32_t axis, uint32_t size, ElementType scale_type,
                      std::optional<uint32_t> zero_points = std::nullopt) {
  return {axis, size, 1, zero_points, scale_type};
}

constexpr auto kInt8 = ElementTypes::kInt8;
constexpr auto kUint4 = ElementTypes::kUint4;
constexpr auto kFloat16 = ElementTypes::kFloat16;
constexpr auto kBfloat16 = ElementTypes::kBfloat16;
constexpr auto kFloat32 = ElementTypes::kFloat32;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// ---- storage types

struct Storage {
  std::string name;
  QuantizationScheme scheme;
  std::vector<uint8_t> allowed;  // tags
};

class StorageTypes : public testing::TestWithParam<Storage> {};

TEST_P(StorageTypes, AreThoseOfTheScheme) {
  for (const ElementTypeInfo& type : NamedElementTypes()) {
    bool allowed = std::ranges::count(GetParam().allowed, type.tag) != 0;
    SCOPED_TRACE(type.name);
    auto check = [&] {
      // No elements, so no parameters are wanted, but for MXFP, whose axis cannot be empty.
      CheckQuantized(ElementType::FromTag(type.tag), {0, 32}, GetParam().scheme, {{}, {}});
    };
    if (allowed) {
      EXPECT_NO_THROW(check());
    } else {
      EXPECT_THAT(check, IsRefused("dtype is " + std::string(type.name)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, StorageTypes,
    testing::Values(Storage{"PerTensor",
                            PerTensorAffine{1, 0},
                            {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x48, 0x49, 0x4A, 0x4B}},
                    Storage{"PerChannel",
                            Channels(0),
                            {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x48, 0x49, 0x4A, 0x4B}},
                    Storage{
                        "PerBlock", Blocks(0, 2, kFloat32), {0x10, 0x11, 0x48, 0x49, 0x4A, 0x4B}},
                    Storage{"Nf4", Nf4{0, 8, 1}, {0x49}},
                    Storage{"Mxfp", Mxfp{1, 32, 1}, {0x10, 0x40, 0x41, 0x43, 0x44, 0x45, 0x48}}),
    [](const auto& row) { return row.param.name; });

// ---- axes and blocks

TEST(QuantizationAxis, IsADimensionOfKnownExtent) {
  EXPECT_THAT([] { CheckQuantized(kInt8, {2}, Channels(1), {Floats({1})}); },
              IsRefused("axis is 1, the shape [2] has rank 1"));
  EXPECT_THAT([] { CheckQuantized(kInt8, {}, Channels(0), {Floats({1})}); },
              IsRefused("has rank 0"));
  EXPECT_THAT([] { CheckQuantized(kInt8, {kDynamicExtent}, Channels(0), {Floats({1})}); },
              IsRefused("dynamic"));
  EXPECT_THAT([] { CheckQuantized(kUint4, {2, kDynamicExtent}, Nf4{1, 8, 1}, {Floats({1})}); },
              IsRefused("dynamic"));
}

TEST(QuantizationBlocks, AreNoLargerThanTheirAxis) {
  EXPECT_THAT([] { CheckQuantized(kInt8, {4}, Blocks(0, 8, kFloat32), {Floats({1})}); },
              IsRefused("block_size is 8, it must be at most 4"));
  EXPECT_THAT([] { CheckQuantized(kUint4, {4}, Nf4{0, 8, 1}, {Floats({1})}); },
              IsRefused("block_size is 8"));
  EXPECT_NO_THROW(CheckQuantized(kInt8, {0}, Blocks(0, 8, kFloat32), {{}}));
  EXPECT_NO_THROW(CheckQuantized(kUint4, {0}, Nf4{0, 8, 1}, {{}}));
}

TEST(MxfpBlocks, DivideTheirAxis) {
  EXPECT_NO_THROW(CheckQuantized(kInt8, {64}, Mxfp{0, 32, 1}, {Bytes("01 FE")}));
  EXPECT_THAT([] { CheckQuantized(kInt8, {48}, Mxfp{0, 32, 1}, {Bytes("01 FE")}); },
              IsRefused("positive multiple"));
  EXPECT_THAT([] { CheckQuantized(kInt8, {0}, Mxfp{0, 32, 1}, {{}}); },
              IsRefused("positive multiple"));
}

// ---- sizes of parameter buffers

TEST(ParameterBuffers, HaveOneScaleForEachChannel) {
  EXPECT_NO_THROW(CheckQuantized(kInt8, {2, 3}, Channels(1), {Floats({1, 2, 3})}));
  EXPECT_THAT([] { CheckQuantized(kInt8, {2, 3}, Channels(1), {Floats({1, 2})}); },
              IsRefused("buffer 1 (scales) has 8 bytes, it must have exactly 12"));
  EXPECT_THAT([] { CheckQuantized(kInt8, {2, 3}, Channels(1), {Floats({1, 2, 3, 4})}); },
              IsRefused("exactly 12 for 3 parameters"));
}

TEST(ParameterBuffers, HaveOneScaleForEachBlockThePartialOnesToo) {
  // Shape [3, 10, 4], axis 1, blocks of 4: 3 along the axis, 36 in all.
  EXPECT_NO_THROW(CheckQuantized(kInt8, {3, 10, 4}, Blocks(1, 4, kFloat32),
                                 {Floats(std::vector<float>(36, 1))}));
  EXPECT_THAT(
      [] {
        CheckQuantized(kInt8, {3, 10, 4}, Blocks(1, 4, kFloat32),
                       {Floats(std::vector<float>(35, 1))});
      },
      IsRefused("exactly 144 for 36 parameters"));
  EXPECT_NO_THROW(CheckQuantized(kInt8, {10}, Blocks(0, 4, kBfloat16), {Bytes("803F 803F 803F")}));
}

TEST(ParameterBuffers, HoldZeroPointsOfFourBytes) {
  EXPECT_NO_THROW(CheckQuantized(kInt8, {2}, Channels(0, 2),
                                 {Floats({1, 2}), LittleEndian<int32_t>({-128, 127})}));
  EXPECT_THAT([] { CheckQuantized(kInt8, {2}, Channels(0, 2), {Floats({1, 2}), Bytes("00 00")}); },
              IsRefused("buffer 2 (zero points) has 2 bytes, it must have exactly 8"));
}

TEST(ParameterBuffers, MayHoldZeroPointsBehindScales) {
  auto both = Floats({1, 2});
  for (uint8_t byte : LittleEndian<int32_t>({3, -4})) both.push_back(byte);
  EXPECT_NO_THROW(CheckQuantized(kInt8, {2}, Channels(0, 1), {both}));
  EXPECT_THAT([] { CheckQuantized(kInt8, {2}, Channels(0, 1), {Floats({1, 2})}); },
              IsRefused("exactly 16"));
  // Zero points behind 2-byte scales are not aligned.
  EXPECT_NO_THROW(CheckQuantized(kInt8, {2}, Blocks(0, 2, kFloat16, 1), {Bytes("003C 7F000000")}));
  EXPECT_THAT(
      [] { CheckQuantized(kInt8, {2}, Blocks(0, 2, kFloat16, 1), {Bytes("003C 80000000")}); },
      IsRefused("(zero points), position 0: 128"));
}

TEST(ParameterBuffers, OfHugeShapesAreRefusedWithoutWrapping) {
  TensorDescriptor descriptor =
      Described(kInt8, {uint64_t{1} << 32, uint64_t{1} << 33}, RowMajorLayout{}, {0, 0},
                Quantized(Blocks(0, 2, kFloat32)));
  std::vector<std::span<const uint8_t>> buffers(2);
  EXPECT_THAT([&] { CheckContents(descriptor, buffers); }, IsRefused("64 bits"));
}

TEST(ParameterBuffers, OfBlocksAreLeftWhileAnotherExtentIsDynamic) {
  EXPECT_NO_THROW(CheckQuantized(kInt8, {kDynamicExtent, 8}, Blocks(1, 4, kFloat32), {{}}));
}

// ---- values of parameters

TEST(Scales, AreFiniteAndNotZero) {
  for (float bad : {0.0f, -0.0f, kNan, kInfinity, -kInfinity}) {
    EXPECT_THAT([&] { CheckQuantized(kInt8, {2}, Channels(0), {Floats({1, bad})}); },
                IsRefused("buffer 1 (scales), position 1"));
    EXPECT_THAT([&] { CheckQuantized(kInt8, {4}, Blocks(0, 2, kFloat32), {Floats({1, bad})}); },
                IsRefused("position 1"));
  }
  EXPECT_NO_THROW(CheckQuantized(kInt8, {2}, Channels(0), {Floats({-1, 1e-45f})}));
}

TEST(Scales, OfHalfPrecisionAreFiniteAndNotZero) {
  for (std::string_view bad : {"0000", "0080", "007C", "00FC", "017C", "FFFF"}) {
    EXPECT_THAT([&] { CheckQuantized(kInt8, {2}, Blocks(0, 2, kFloat16), {Bytes(bad)}); },
                IsRefused("position 0"));
  }
  for (std::string_view bad : {"0000", "0080", "807F", "80FF", "C07F"}) {
    EXPECT_THAT([&] { CheckQuantized(kInt8, {2}, Blocks(0, 2, kBfloat16), {Bytes(bad)}); },
                IsRefused("position 0"));
  }
  for (std::string_view good : {"0100", "FF7B", "003C", "0084"}) {
    EXPECT_NO_THROW(CheckQuantized(kInt8, {2}, Blocks(0, 2, kFloat16), {Bytes(good)}));
  }
}

TEST(Nf4Scales, AreFiniteAndNotNegative) {
  EXPECT_NO_THROW(CheckQuantized(kUint4, {16}, Nf4{0, 8, 1}, {Floats({0, 2.5f})}));
  for (float bad : {-1.0f, kNan, kInfinity}) {
    EXPECT_THAT([&] { CheckQuantized(kUint4, {16}, Nf4{0, 8, 1}, {Floats({0, bad})}); },
                IsRefused("position 1"));
  }
}

TEST(MxfpScales, AreNotTheReservedCodes) {
  for (std::string_view bad : {"01 00", "01 FF"}) {
    EXPECT_THAT([&] { CheckQuantized(kInt8, {64}, Mxfp{0, 32, 1}, {Bytes(bad)}); },
                IsRefused("buffer 1 (scales), position 1"));
  }
}

struct ZeroPoint {
  ElementType dtype;
  int32_t low, high;
};

TEST(ZeroPoints, AreNumbersThatTheStorageTypeHolds) {
  for (const ZeroPoint& row :
       {ZeroPoint{kInt8, -128, 127}, ZeroPoint{ElementTypes::kUint8, 0, 255},
        ZeroPoint{ElementTypes::kInt16, -32768, 32767}, ZeroPoint{ElementTypes::kInt4, -8, 7},
        ZeroPoint{ElementTypes::kUint2, 0, 3},
        ZeroPoint{ElementTypes::kInt32, INT32_MIN, INT32_MAX},
        ZeroPoint{ElementTypes::kUint32, 0, INT32_MAX}}) {
    SCOPED_TRACE(row.dtype.name());
    auto check = [&](int32_t zero_point) {
      CheckQuantized(row.dtype, {4}, PerTensorAffine{1, zero_point}, {});
      CheckQuantized(row.dtype, {1}, Channels(0, 2),
                     {Floats({1}), LittleEndian<int32_t>({zero_point})});
    };
    EXPECT_NO_THROW(check(row.low));
    EXPECT_NO_THROW(check(row.high));
    if (row.low > INT32_MIN) {
      EXPECT_THAT([&] { check(row.low - 1); }, IsRefused("it must be from"));
    }
    if (row.high < INT32_MAX) {
      EXPECT_THAT(
          [&] {
            CheckQuantized(row.dtype, {1}, Channels(0, 2),
                           {Floats({1}), LittleEndian<int32_t>({row.high + 1})});
          },
          IsRefused("buffer 2 (zero points), position 0"));
    }
  }
}

// ---- block-paged

void CheckPaged(const Numbers& shape, QuantizationScheme scheme, ElementType dtype,
                const std::vector<std::vector<uint8_t>>& parameters) {
  BlockPagedLayout layout{4, 3, 0, 1};
  Buffers buffers{std::vector<uint8_t>(4 * 3 * 2 * 8), LittleEndian<uint32_t>({2, 0}),
                  LittleEndian<uint32_t>({0, 2})};
  buffers.insert(buffers.end(), parameters.begin(), parameters.end());
  Check(dtype, shape, layout, buffers, Quantized(std::move(scheme)));
}

TEST(PagedQuantization, HasOneScaleForEachTokenSlot) {
  PerBlockAffine scheme{0, 4, 3, std::nullopt, kFloat32};
  EXPECT_NO_THROW(CheckPaged({8, 2, 8}, scheme, kInt8, {Floats(std::vector<float>(12, 1))}));
  EXPECT_THAT([&] { CheckPaged({8, 2, 8}, scheme, kInt8, {Floats({1, 2})}); },
              IsRefused("exactly 48 for 12 parameters"));
  EXPECT_THAT([&] { CheckPaged({3, 2, 8}, scheme, kInt8, {Floats(std::vector<float>(12, 1))}); },
              IsRefused("at most 3"));
}

TEST(PagedQuantization, HasChannelsOfHeads) {
  PerChannelAffine scheme{1, 3, std::nullopt};
  EXPECT_NO_THROW(CheckPaged({8, 2, 8}, scheme, kInt8, {Floats({1, 2})}));
  EXPECT_THAT([&] { CheckPaged({8, 2, 8}, scheme, kInt8, {Floats({1})}); }, IsRefused("exactly 8"));
}

TEST(PagedQuantization, CarriesOtherSchemesAlong) {
  EXPECT_NO_THROW(CheckPaged({8, 2, 8}, Nf4{2, 8, 3}, kUint4, {Bytes("00")}));
}

// ---- statistics, layouts, what is no fault

DescriptorSections Claims(uint32_t mask, uint64_t nnz, uint8_t nm_n = 0, uint8_t nm_m = 0) {
  DescriptorSections sections;
  sections.statistics.emplace();
  sections.statistics->computed_mask = mask;
  sections.statistics->nnz = nnz;
  sections.statistics->nm_n = nm_n;
  sections.statistics->nm_m = nm_m;
  return sections;
}

TEST(StatisticsContents, AgreeWithASparsePayload) {
  Buffers buffers{Floats({5}), LittleEndian<uint64_t>({2})};
  auto check = [&](DescriptorSections sections) {
    return [&buffers, sections] { Check(kFloat32, {4}, CooLayout{1}, buffers, sections); };
  };
  EXPECT_NO_THROW(check(Claims(Statistics::kNnz, 1))());
  EXPECT_NO_THROW(check(Claims(0, 2))());
  EXPECT_THAT(check(Claims(Statistics::kNnz, 2)),
              IsRefused("nnz is 2, layout coo stores 1 elements"));
  EXPECT_NO_THROW(
      Check(kFloat32, {1}, RowMajorLayout{}, {Floats({5})}, Claims(Statistics::kNnz, 7)));
}

TEST(StatisticsContents, ClaimAtMostMOfM) {
  auto check = [](uint32_t mask, uint8_t n, uint8_t m) {
    return [=] { Check(kFloat32, {1}, RowMajorLayout{}, {Floats({5})}, Claims(mask, 0, n, m)); };
  };
  EXPECT_NO_THROW(check(Statistics::kNm, 2, 4)());
  EXPECT_NO_THROW(check(Statistics::kNm, 4, 4)());
  EXPECT_NO_THROW(check(0, 5, 4)());
  EXPECT_THAT(check(Statistics::kNm, 5, 4), IsRefused("nm_n is 5, it must be at most nm_m"));
}

TEST(Contents, AreThoseOfTheLayoutToo) {
  EXPECT_THAT(
      [] {
        Check(kFloat32, {2, 3}, CsrLayout{1},
              {Floats({5}), LittleEndian<uint64_t>({3}), LittleEndian<uint64_t>({0, 1, 1})}, {});
      },
      IsRefused("buffer 1 (col_indices of layout csr), position 0: 3 must be below 3"));
}

TEST(Contents, MayHaveSurplusBuffersAndOpaqueLayouts) {
  EXPECT_NO_THROW(Check(kFloat32, {1}, RowMajorLayout{}, {Floats({5}), Bytes("00")}, {}));
  EXPECT_NO_THROW(Check(kFloat32, {1}, PrivateExtensionLayout{{}, 0xF0, 7, {}}, {Bytes("00")}, {}));
}

}  // namespace
}  // namespace hurray
