#include "core/requirements.h"

#include <string>

#include "testing.h"

namespace hurray {
namespace {

// ---- least sizes of the layouts that need no index buffers

struct Need {
  std::string name;
  ElementType dtype;
  std::vector<uint64_t> shape;
  Layout layout;
  uint64_t byte_offset;
  uint64_t bytes;  // of buffer 0
};

class MinimumBufferSize : public testing::TestWithParam<Need> {
 protected:
  static void Check(uint64_t size) {
    const Need& row = GetParam();
    TensorDescriptor descriptor(row.dtype, ShapeOf(row.shape), row.layout, BuffersOf({size}),
                                row.byte_offset);
    CheckRequirements(descriptor, ErrorCode::kBuffer);
  }
};

TEST_P(MinimumBufferSize, IsEnoughAndOneByteLessIsNot) {
  EXPECT_NO_THROW(Check(GetParam().bytes));
  EXPECT_NO_THROW(Check(GetParam().bytes + 1));
  if (GetParam().bytes > 0) {
    EXPECT_THAT([&] { Check(GetParam().bytes - 1); },
                ThrowsCode(ErrorCode::kBuffer, std::to_string(GetParam().bytes)));
  }
}

StridedLayout StridedBy(Strides strides) { return {{}, std::move(strides)}; }

INSTANTIATE_TEST_SUITE_P(
    Rows, MinimumBufferSize,
    testing::Values(
        Need{"Scalar", ElementTypes::kFloat64, {}, RowMajorLayout{}, 0, 8},
        Need{"RowMajor", ElementTypes::kFloat32, {3, 4}, RowMajorLayout{}, 0, 48},
        Need{"RowMajorBehindAnOffset", ElementTypes::kFloat32, {3, 4}, RowMajorLayout{}, 5, 53},
        Need{"ColMajor", ElementTypes::kInt16, {3, 4}, ColMajorLayout{}, 2, 26},
        Need{"Bools", ElementTypes::kBool, {3, 3}, RowMajorLayout{}, 0, 2},
        Need{"Float6", ElementTypes::kFloat6E2M3, {5}, RowMajorLayout{}, 3, 9},
        Need{"Empty", ElementTypes::kFloat32, {0, 4}, RowMajorLayout{}, 0, 0},
        Need{"EmptyBehindAnOffset", ElementTypes::kFloat32, {0, 4}, RowMajorLayout{}, 7, 7},
        Need{"EmptyAndHuge",
             ElementTypes::kFloat32,
             {UINT64_MAX - 1, UINT64_MAX - 1, 0},
             ColMajorLayout{},
             0,
             0},
        Need{"Strided", ElementTypes::kFloat32, {3, 4}, StridedBy({4, 1}), 0, 48},
        Need{"StridedWithGaps", ElementTypes::kInt8, {2, 2}, StridedBy({10, 3}), 1, 15},
        // Format section 5.2: lowest offset -8, highest 3, so byte_offset must be at least 32.
        Need{"StridedBackwards", ElementTypes::kFloat32, {3, 4}, StridedBy({-4, 1}), 32, 48},
        Need{"StridedBroadcast", ElementTypes::kFloat32, {1000, 4}, StridedBy({0, 1}), 0, 16},
        Need{"StridedBools", ElementTypes::kBool, {3}, StridedBy({8}), 0, 3},
        Need{"StridedBoolsBackwards", ElementTypes::kBool, {10}, StridedBy({-1}), 2, 3},
        Need{"StridedFloat6Backwards", ElementTypes::kFloat6E3M2, {5}, StridedBy({-1}), 3, 6},
        Need{"StridedEmpty",
             ElementTypes::kFloat32,
             {0, 2},
             StridedBy({INT64_MIN, INT64_MAX}),
             3,
             3},
        Need{"StridedOneElementOfHugeStrides",
             ElementTypes::kInt8,
             {1, 1},
             StridedBy({INT64_MIN, INT64_MAX}),
             0,
             1},
        Need{"StridedToTheLastOffset",
             ElementTypes::kInt8,
             {2},
             StridedBy({INT64_MAX}),
             0,
             uint64_t{1} << 63}),
    [](const auto& row) { return row.param.name; });

struct Hopeless {
  std::string name;
  std::vector<uint64_t> shape;
  Layout layout;
  uint64_t byte_offset;
};

class ImpossibleSize : public testing::TestWithParam<Hopeless> {};

TEST_P(ImpossibleSize, IsRejectedWhateverTheBuffer) {
  const Hopeless& row = GetParam();
  TensorDescriptor descriptor(ElementTypes::kFloat32, ShapeOf(row.shape), row.layout,
                              BuffersOf({UINT64_MAX}), row.byte_offset);
  EXPECT_THAT([&] { CheckRequirements(descriptor, ErrorCode::kBuffer); },
              ThrowsCode(ErrorCode::kBuffer));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ImpossibleSize,
    testing::Values(
        Hopeless{"CountThatWraps", {uint64_t{1} << 32, uint64_t{1} << 32}, RowMajorLayout{}, 0},
        Hopeless{"BytesThatWrap", {uint64_t{1} << 62}, ColMajorLayout{}, 0},
        Hopeless{"OffsetThatWraps", {4}, RowMajorLayout{}, UINT64_MAX - 15},
        Hopeless{"SixtyFourDimensionsOf2To63", std::vector<uint64_t>(64, uint64_t{1} << 63),
                 RowMajorLayout{}, 0},
        Hopeless{"StridesThatReachPast2To63", {3}, StridedBy({INT64_MAX}), 0},
        Hopeless{"StridesThatReachBelowMinus2To63", {2}, StridedBy({INT64_MIN}), UINT64_MAX},
        Hopeless{"StridesThatCancelOnlyInASum",
                 {3, 3},
                 StridedBy({INT64_MAX, -INT64_MAX}),
                 uint64_t{1} << 63},
        Hopeless{"StridesTimesTheLargestExtent",
                 {UINT64_MAX - 1, UINT64_MAX - 1},
                 StridedBy({INT64_MIN, INT64_MIN}),
                 UINT64_MAX},
        Hopeless{"StridesBelowTheStart", {3, 4}, StridedBy({-4, 1}), 31},
        Hopeless{"StridedBytesThatExceed64Bits", {2}, StridedBy({INT64_MAX}), UINT64_MAX}),
    [](const auto& row) { return row.param.name; });

TEST(Requirements, SkipSizesOfDynamicShapes) {
  for (const Layout& layout :
       {Layout(RowMajorLayout{}), Layout(ColMajorLayout{}), Layout(StridedBy({INT64_MIN, 1}))}) {
    TensorDescriptor descriptor(ElementTypes::kFloat32, Shape{kDynamicExtent, 2}, layout,
                                BuffersOf({0}));
    EXPECT_NO_THROW(CheckRequirements(descriptor, ErrorCode::kBuffer)) << LayoutName(layout);
  }
}

TEST(Requirements, NameBufferLayoutTypeAndShape) {
  TensorDescriptor descriptor = Described(ElementTypes::kFloat32, {3, 4}, RowMajorLayout{}, {47});
  EXPECT_THAT([&] { CheckRequirements(descriptor, ErrorCode::kBuffer); },
              ThrowsCode(ErrorCode::kBuffer,
                         "buffer 0 (data of layout row_major, dtype float32, shape [3, 4]) has 47 "
                         "bytes, need at least 48 bytes"));
}

TEST(Requirements, AcceptBuffersBeyondThoseOfTheLayout) {
  EXPECT_NO_THROW(CheckRequirements(
      Described(ElementTypes::kInt8, {2}, RowMajorLayout{}, {2, 0, 9}), ErrorCode::kBuffer));
}

TEST(Requirements, AskForAtLeastOneBuffer) {
  for (const Layout& layout :
       {Layout(RowMajorLayout{}), Layout(PrivateExtensionLayout{{}, 0xF0, 1, {}}),
        Layout(UnknownLayout{{}, 0x0C, {}})}) {
    EXPECT_THAT(
        [&] {
          CheckRequirements(Described(ElementTypes::kInt8, {2}, layout, {}), ErrorCode::kBuffer);
        },
        ThrowsCode(ErrorCode::kInvalidDescriptor, "1 buffer"))
        << LayoutName(layout);
  }
}

TEST(Requirements, PutQuantizationParametersBehindTheLayoutsOwnBuffers) {
  DescriptorSections sections;
  sections.quantization = Quantization{PerChannelAffine{0, 1, std::nullopt}, {}};
  EXPECT_NO_THROW(CheckRequirements(
      Described(ElementTypes::kInt8, {2}, RowMajorLayout{}, {2, 8}, sections), ErrorCode::kBuffer));
  EXPECT_THAT(
      [&] {
        CheckRequirements(Described(ElementTypes::kInt8, {2}, RowMajorLayout{}, {2}, sections),
                          ErrorCode::kBuffer);
      },
      ThrowsCode(ErrorCode::kInvalidDescriptor, "out of range"));
}

// Format section 12.1: readers leave these to validate_contents().
TEST(Requirements, LeaveTheMeaningOfQuantizationToContents) {
  DescriptorSections sections;
  sections.quantization = Quantization{PerChannelAffine{63, 1, std::nullopt}, {}};
  EXPECT_NO_THROW(
      CheckRequirements(Described(ElementTypes::kFloat32, {2}, RowMajorLayout{}, {8, 0}, sections),
                        ErrorCode::kBuffer));
}

TEST(Requirements, HoldTheShardInsideItsParent) {
  DescriptorSections sections;
  sections.shard = Shard({8}, {7});
  EXPECT_THAT(
      [&] {
        CheckRequirements(Described(ElementTypes::kInt8, {2}, RowMajorLayout{}, {2}, sections),
                          ErrorCode::kBuffer);
      },
      ThrowsCode(ErrorCode::kInvalidDescriptor, "shard_offset[0]"));
}

TEST(SuppliedSizes, MustBeAsManyAndAsLargeAsDeclared) {
  TensorDescriptor descriptor = Described(ElementTypes::kInt8, {2}, RowMajorLayout{}, {2, 5});
  EXPECT_NO_THROW(CheckSuppliedSizes(descriptor, std::vector<uint64_t>{2, 5}));
  EXPECT_NO_THROW(CheckSuppliedSizes(descriptor, std::vector<uint64_t>{3, 6}));
  EXPECT_THAT([&] { CheckSuppliedSizes(descriptor, std::vector<uint64_t>{2}); },
              ThrowsCode(ErrorCode::kBuffer, "1 buffers"));
  EXPECT_THAT([&] { CheckSuppliedSizes(descriptor, std::vector<uint64_t>{2, 4}); },
              ThrowsCode(ErrorCode::kBuffer, "buffer 1"));
}

}  // namespace
}  // namespace hurray
