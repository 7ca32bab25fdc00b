// The published golden vectors of the format. Format: section 13.
#include <algorithm>
#include <string>

#include "core/descriptor.h"
#include "data_path.h"
#include "guarded_bytes.h"
#include "testing.h"

namespace hurray {
namespace {

struct Vector {
  std::string name;
  size_t length;
  ElementType dtype;
  std::vector<uint64_t> shape;
  std::string layout;
  std::vector<uint64_t> buffer_sizes;
};

class GoldenVector : public testing::TestWithParam<Vector> {
 protected:
  const std::vector<uint8_t> bytes = ReadTestData("vectors/" + GetParam().name + ".bin");
};

TEST_P(GoldenVector, DecodesToThePublishedFields) {
  const Vector& row = GetParam();
  EXPECT_EQ(bytes.size(), row.length);
  TensorDescriptor descriptor = TensorDescriptor::Decode(bytes);
  EXPECT_EQ(descriptor.dtype(), row.dtype);
  EXPECT_EQ(std::vector(descriptor.shape().begin(), descriptor.shape().end()), row.shape);
  EXPECT_EQ(LayoutName(descriptor.layout()), row.layout);
  EXPECT_EQ(descriptor.byte_offset(), 0u);
  EXPECT_EQ(descriptor.version_minor(), 0);
  std::vector<uint64_t> sizes;
  for (const BufferHandle& handle : descriptor.buffers()) {
    sizes.push_back(handle.byte_size);
    EXPECT_EQ(handle.alignment, 64u);
    EXPECT_EQ(handle.device, Device{});
    EXPECT_EQ(handle.sync_mode, SyncMode::kProducerSynced);
  }
  EXPECT_EQ(sizes, row.buffer_sizes);
}

TEST_P(GoldenVector, IsEncodedAgainByteForByte) {
  EXPECT_EQ(TensorDescriptor::Decode(bytes).Encode(), bytes);
}

TEST_P(GoldenVector, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(bytes, [](std::span<const uint8_t> input) {
    EXPECT_THAT([&] { TensorDescriptor::Decode(input); },
                ThrowsCode(ErrorCode::kInvalidDescriptor));
  });
}

TEST_P(GoldenVector, WithAnyOneByteChangedIsRefusedOrEncodedAgain) {
  GuardedBytes guarded(bytes.size());
  auto changed = bytes;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      changed[at] = static_cast<uint8_t>(value);
      try {
        auto again = TensorDescriptor::Decode(guarded.Place(changed)).Encode();
        // A descriptor may have become shorter; what lies behind it is not its own.
        ASSERT_LE(again.size(), changed.size()) << "byte " << at << " is " << value;
        EXPECT_TRUE(std::equal(again.begin(), again.end(), changed.begin()))
            << "byte " << at << " is " << value;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidDescriptor) << error.what();
      }
    }
    changed[at] = bytes[at];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Published, GoldenVector,
    testing::Values(
        Vector{"row_major_f32_3x4", 61, ElementTypes::kFloat32, {3, 4}, "row_major", {48}},
        Vector{"row_major_int8_5", 53, ElementTypes::kInt8, {5}, "row_major", {5}},
        Vector{"row_major_f16_2x2", 61, ElementTypes::kFloat16, {2, 2}, "row_major", {8}},
        Vector{"bool_packed_10", 53, ElementTypes::kBool, {10}, "row_major", {2}},
        Vector{"strided_f32_3x4", 77, ElementTypes::kFloat32, {3, 4}, "strided", {48}},
        Vector{"morton_f32_4x4", 69, ElementTypes::kFloat32, {4, 4}, "morton", {64}},
        Vector{"empty_f32_0x4", 61, ElementTypes::kFloat32, {0, 4}, "row_major", {0}},
        Vector{"sharded_f32_8x4", 93, ElementTypes::kFloat32, {8, 4}, "row_major", {128}},
        Vector{"csr_f32_3x3", 109, ElementTypes::kFloat32, {3, 3}, "csr", {8, 16, 32}},
        Vector{"composite_head_partition", 53, ElementTypes::kFloat32, {8, 8}, "composite", {}},
        Vector{"quant_per_block_int4_128x128",
               105,
               ElementTypes::kInt4,
               {128, 128},
               "row_major",
               {8192, 256}}),
    [](const auto& row) { return row.param.name; });

TEST(GoldenVectorSections, HoldTheStrides) {
  auto descriptor = TensorDescriptor::Decode(ReadTestData("vectors/strided_f32_3x4.bin"));
  EXPECT_EQ(std::get<StridedLayout>(descriptor.layout()).strides, (Strides{4, 1}));
}

TEST(GoldenVectorSections, HoldTheShard) {
  auto descriptor = TensorDescriptor::Decode(ReadTestData("vectors/sharded_f32_8x4.bin"));
  ASSERT_NE(descriptor.shard(), nullptr);
  EXPECT_EQ(descriptor.shard()->parent_shape(), (Shape{8, 8}));
  EXPECT_EQ(descriptor.shard()->offset(), (Shape{0, 4}));
}

TEST(GoldenVectorSections, HoldTheCompositeHead) {
  auto descriptor = TensorDescriptor::Decode(ReadTestData("vectors/composite_head_partition.bin"));
  EXPECT_EQ(std::get<CompositeHeadLayout>(descriptor.layout()),
            (CompositeHeadLayout{CompositionRule::kPartition, CombineOp::kNone, 2}));
}

TEST(GoldenVectorSections, HoldTheQuantization) {
  auto descriptor =
      TensorDescriptor::Decode(ReadTestData("vectors/quant_per_block_int4_128x128.bin"));
  ASSERT_NE(descriptor.quantization(), nullptr);
  EXPECT_EQ(descriptor.quantization()->scheme,
            QuantizationScheme(PerBlockAffine{1, 128, 1, std::nullopt, ElementTypes::kFloat16}));
}

}  // namespace
}  // namespace hurray
