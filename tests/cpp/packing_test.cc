#include "core/packing.h"

#include <string>

#include "core/extension_type.h"
#include "testing.h"

namespace hurray {
namespace {

struct Size {
  std::string name;
  ElementType type;
  uint64_t count;
  std::optional<uint64_t> bytes;
};

class PackedSize : public testing::TestWithParam<Size> {};

TEST_P(PackedSize, IsTheOneOfTheFormat) {
  const Size& row = GetParam();
  EXPECT_EQ(Packing::Of(row.type).SizeBytes(row.count), row.bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, PackedSize,
    testing::Values(
        Size{"NoBools", ElementTypes::kBool, 0, 0}, Size{"OneBool", ElementTypes::kBool, 1, 1},
        Size{"EightBools", ElementTypes::kBool, 8, 1}, Size{"NineBools", ElementTypes::kBool, 9, 2},
        Size{"FourInt2", ElementTypes::kInt2, 4, 1}, Size{"FiveInt2", ElementTypes::kInt2, 5, 2},
        Size{"ThreeUint4", ElementTypes::kUint4, 3, 2},
        Size{"TwoFloat4", ElementTypes::kFloat4E2M1, 2, 1},
        // Whole groups of three bytes, not ceil(6 n / 8): format section 14, row 2.
        Size{"NoFloat6", ElementTypes::kFloat6E2M3, 0, 0},
        Size{"OneFloat6", ElementTypes::kFloat6E2M3, 1, 3},
        Size{"TwoFloat6", ElementTypes::kFloat6E2M3, 2, 3},
        Size{"ThreeFloat6", ElementTypes::kFloat6E3M2, 3, 3},
        Size{"FourFloat6", ElementTypes::kFloat6E3M2, 4, 3},
        Size{"FiveFloat6", ElementTypes::kFloat6E3M2, 5, 6},
        Size{"ThreeInt8", ElementTypes::kInt8, 3, 3},
        Size{"ThreeFloat16", ElementTypes::kFloat16, 3, 6},
        Size{"ThreeFloat128", ElementTypes::kFloat128, 3, 48},
        Size{"ThreeComplex128", ElementTypes::kComplex128, 3, 48},
        Size{"MostBools", ElementTypes::kBool, UINT64_MAX, uint64_t{1} << 61},
        Size{"MostInt8", ElementTypes::kInt8, UINT64_MAX, UINT64_MAX},
        Size{"MostFloat6", ElementTypes::kFloat6E2M3, UINT64_MAX, uint64_t{3} << 62},
        Size{"Float16ThatWrap", ElementTypes::kFloat16, uint64_t{1} << 63, std::nullopt},
        Size{"Float128ThatWrap", ElementTypes::kFloat128, uint64_t{1} << 60, std::nullopt}),
    [](const auto& row) { return row.param.name; });

struct Range {
  std::string name;
  ElementType type;
  int64_t low, high;
  int64_t first, last;
};

class PackedRange : public testing::TestWithParam<Range> {};

TEST_P(PackedRange, CoversTheWholeElements) {
  const Range& row = GetParam();
  Packing::ByteRange range = Packing::Of(row.type).BytesOf(row.low, row.high);
  EXPECT_EQ(static_cast<int64_t>(range.first), row.first);
  EXPECT_EQ(static_cast<int64_t>(range.last), row.last);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, PackedRange,
    testing::Values(Range{"OneByte", ElementTypes::kInt8, 5, 5, 5, 6},
                    Range{"Float32", ElementTypes::kFloat32, -8, 3, -32, 16},
                    Range{"BoolsInOneByte", ElementTypes::kBool, 3, 5, 0, 1},
                    Range{"BoolsAcrossBytes", ElementTypes::kBool, 7, 8, 0, 2},
                    // Floor division: offset -1 is in byte -1, not in byte 0.
                    Range{"BoolsBelowZero", ElementTypes::kBool, -1, 0, -1, 1},
                    Range{"BoolsAWholeByteBelow", ElementTypes::kBool, -8, -8, -1, 0},
                    Range{"Int4BelowZero", ElementTypes::kInt4, -3, -3, -2, -1},
                    Range{"Float6InOneGroup", ElementTypes::kFloat6E2M3, 1, 2, 0, 3},
                    Range{"Float6AcrossGroups", ElementTypes::kFloat6E2M3, 3, 4, 0, 6},
                    Range{"Float6BelowZero", ElementTypes::kFloat6E2M3, -5, -4, -6, 0}),
    [](const auto& row) { return row.param.name; });

TEST(Packing, DoesNotWrapAtTheEndsOfElementOffsets) {
  Packing packing = Packing::Of(ElementTypes::kFloat128);
  Packing::ByteRange range = packing.BytesOf(-__int128{INT64_MAX}, __int128{INT64_MAX});
  EXPECT_TRUE(range.first == -__int128{INT64_MAX} * 16);
  EXPECT_TRUE(range.last == (__int128{INT64_MAX} + 1) * 16);
}

TEST(Packing, OfPrivateTypesComesFromTheirDescription) {
  ElementType type = ElementType::FromTag(0xF0);
  ExtensionType extension;
  extension.bit_width = 12;  // stored in whole bytes: format section 14, row 35
  EXPECT_EQ(Packing::Of(type, &extension).SizeBytes(3), 6u);
  extension.bit_width = 2;
  EXPECT_EQ(Packing::Of(type, &extension).SizeBytes(5), 2u);
  extension.bit_width = UINT32_MAX;
  EXPECT_EQ(Packing::Of(type, &extension).SizeBytes(1), uint64_t{1} << 29);
}

}  // namespace
}  // namespace hurray
