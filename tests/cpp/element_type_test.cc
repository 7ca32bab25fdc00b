#include "core/element_type.h"

#include <set>
#include <string>

#include "core/str_cat.h"
#include "testing.h"

namespace hurray {
namespace {

// The table of format section 2, written down a second time.
struct NamedType {
  std::string name;
  uint8_t tag;
  uint32_t bits;
  uint8_t alignment;
};

class NamedElementType : public testing::TestWithParam<NamedType> {};

TEST_P(NamedElementType, HasTheTagWidthAndAlignmentOfTheFormat) {
  const NamedType& row = GetParam();
  ElementType type = ElementType::FromTag(row.tag);
  EXPECT_EQ(type.tag(), row.tag);
  EXPECT_EQ(type.name(), row.name);
  EXPECT_EQ(type.bits(), row.bits);
  EXPECT_EQ(type.info().alignment, row.alignment);
  EXPECT_EQ(type.info().tier, row.tag < 0x40 ? 1 : 2);
  EXPECT_EQ(type.is_sub_byte(), row.bits < 8);
  EXPECT_FALSE(type.is_private());
  EXPECT_EQ(ElementType::FromName(row.name), type);
}

INSTANTIATE_TEST_SUITE_P(
    Format, NamedElementType,
    testing::Values(NamedType{"float16", 0x01, 16, 2}, NamedType{"bfloat16", 0x02, 16, 2},
                    NamedType{"float32", 0x03, 32, 4}, NamedType{"float64", 0x04, 64, 8},
                    NamedType{"int8", 0x10, 8, 1}, NamedType{"uint8", 0x11, 8, 1},
                    NamedType{"int16", 0x12, 16, 2}, NamedType{"uint16", 0x13, 16, 2},
                    NamedType{"int32", 0x14, 32, 4}, NamedType{"uint32", 0x15, 32, 4},
                    NamedType{"int64", 0x16, 64, 8}, NamedType{"uint64", 0x17, 64, 8},
                    NamedType{"bool", 0x20, 1, 1}, NamedType{"float8_e4m3", 0x40, 8, 1},
                    NamedType{"float8_e5m2", 0x41, 8, 1}, NamedType{"float8_e8m0", 0x42, 8, 1},
                    NamedType{"float4_e2m1", 0x43, 4, 1}, NamedType{"float6_e2m3", 0x44, 6, 1},
                    NamedType{"float6_e3m2", 0x45, 6, 1}, NamedType{"float128", 0x46, 128, 16},
                    NamedType{"int4", 0x48, 4, 1}, NamedType{"uint4", 0x49, 4, 1},
                    NamedType{"int2", 0x4A, 2, 1}, NamedType{"uint2", 0x4B, 2, 1},
                    NamedType{"complex64", 0x50, 64, 4}, NamedType{"complex128", 0x51, 128, 8}),
    [](const auto& row) { return row.param.name; });

TEST(NamedElementTypes, AreTwentySixInTagOrder) {
  auto types = NamedElementTypes();
  ASSERT_EQ(types.size(), 26u);
  for (size_t i = 1; i < types.size(); ++i) EXPECT_LT(types[i - 1].tag, types[i].tag);
}

TEST(ElementType, ExistsForTheNamedAndThePrivateTagsOnly) {
  std::set<uint8_t> valid;
  for (const ElementTypeInfo& info : NamedElementTypes()) valid.insert(info.tag);
  for (unsigned tag = 0xF0; tag <= 0xFE; ++tag) valid.insert(static_cast<uint8_t>(tag));
  for (unsigned tag = 0; tag < 256; ++tag) {
    auto byte = static_cast<uint8_t>(tag);
    if (valid.contains(byte)) {
      EXPECT_EQ(ElementType::FromTag(byte).tag(), byte);
    } else {
      EXPECT_THAT([&] { ElementType::FromTag(byte); },
                  ThrowsCode(ErrorCode::kInvalidDescriptor, HexByte(tag)));
    }
  }
}

TEST(ElementType, SaysThatTwoTagsAreNeverValid) {
  for (uint8_t tag : {uint8_t{0x00}, uint8_t{0xFF}}) {
    EXPECT_THAT([&] { ElementType::FromTag(tag); },
                ThrowsCode(ErrorCode::kInvalidDescriptor, "never valid"));
  }
}

TEST(ElementType, OfPrivateTagsHasNoWidthOfItsOwn) {
  for (unsigned tag = 0xF0; tag <= 0xFE; ++tag) {
    ElementType type = ElementType::FromTag(static_cast<uint8_t>(tag));
    EXPECT_TRUE(type.is_private());
    EXPECT_EQ(type.bits(), 0u);
    EXPECT_FALSE(type.is_sub_byte());
    EXPECT_EQ(type.name(), "extension");
    EXPECT_EQ(type.info().tag, tag);
  }
}

TEST(ElementType, HasNoOtherNames) {
  for (std::string_view name : {"", "extension", "Float32", "float", "float32 "}) {
    EXPECT_EQ(ElementType::FromName(name), std::nullopt) << name;
  }
}

TEST(ElementTypes, AgreeWithTheTable) {
  EXPECT_EQ(ElementTypes::kFloat32.name(), "float32");
  EXPECT_EQ(ElementTypes::kBfloat16.name(), "bfloat16");
  EXPECT_EQ(ElementTypes::kBool.name(), "bool");
  EXPECT_EQ(ElementTypes::kFloat8E8M0.name(), "float8_e8m0");
  EXPECT_EQ(ElementTypes::kUint2.name(), "uint2");
  EXPECT_EQ(ElementTypes::kComplex128.name(), "complex128");
}

}  // namespace
}  // namespace hurray
