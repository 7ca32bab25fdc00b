#include "core/extension_type.h"

#include <string>

#include "guarded_bytes.h"
#include "testing.h"

namespace hurray {
namespace {

// The section as it stands on the wire; a 16-bit float unless said otherwise.
struct Wire {
  uint32_t bit_width = 16;
  uint8_t packing_factor = 1;
  uint8_t is_float = 1;
  uint8_t is_signed = 0;
  uint8_t sign_bits = 1;
  uint8_t exponent_bits = 5;
  uint8_t mantissa_bits = 10;
  uint16_t reserved_at_10 = 0;
  uint32_t exponent_bias = 15;
  uint8_t has_nan = 1;
  uint8_t has_inf = 1;
  uint16_t reserved_at_18 = 0;

  std::vector<uint8_t> Encode() const {
    std::vector<uint8_t> bytes(ExtensionType::kEncodedSize);
    ByteWriter out(bytes);
    out.WriteU32(bit_width);
    for (uint8_t byte :
         {packing_factor, is_float, is_signed, sign_bits, exponent_bits, mantissa_bits}) {
      out.WriteU8(byte);
    }
    out.WriteU16(reserved_at_10);
    out.WriteU32(exponent_bias);
    out.WriteU8(has_nan);
    out.WriteU8(has_inf);
    out.WriteU16(reserved_at_18);
    return bytes;
  }
};

Wire Integer(uint32_t bit_width, uint8_t packing_factor) {
  return {bit_width, packing_factor, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
}

ExtensionType Decoded(std::span<const uint8_t> bytes) {
  ByteReader in(bytes);
  return ExtensionType::Decode(in);
}

struct Broken {
  std::string name;
  void (*breaks)(Wire&);
  std::string field;
  bool integer = false;
};

class BrokenExtensionType : public testing::TestWithParam<Broken> {};

TEST_P(BrokenExtensionType, IsRejected) {
  Wire wire = GetParam().integer ? Integer(16, 1) : Wire{};
  GetParam().breaks(wire);
  auto bytes = wire.Encode();
  EXPECT_THAT([&] { Decoded(bytes); }, ThrowsCode(ErrorCode::kInvalidDescriptor, GetParam().field));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BrokenExtensionType,
    testing::Values(
        Broken{"BitWidth0", [](Wire& w) { w.bit_width = 0; }, "bit_width"},
        Broken{"BitWidth3", [](Wire& w) { w.bit_width = 3; }, "bit_width"},
        Broken{"BitWidth5", [](Wire& w) { w.bit_width = 5; }, "bit_width"},
        Broken{"BitWidth6", [](Wire& w) { w.bit_width = 6; }, "bit_width"},
        Broken{"BitWidth7", [](Wire& w) { w.bit_width = 7; }, "bit_width"},
        Broken{"PackingFactor0", [](Wire& w) { w.packing_factor = 0; }, "packing_factor"},
        Broken{"PackingFactor2Of16Bits", [](Wire& w) { w.packing_factor = 2; }, "packing_factor"},
        Broken{"PackingFactor1Of4Bits", [](Wire& w) { w.bit_width = 4; }, "packing_factor"},
        Broken{"PackingFactor8Of4Bits", [](Wire& w) { w.bit_width = 4, w.packing_factor = 8; },
               "packing_factor"},
        Broken{"ReservedAt10", [](Wire& w) { w.reserved_at_10 = 1; }, "reserved"},
        Broken{"ReservedAt11", [](Wire& w) { w.reserved_at_10 = 0x8000; }, "reserved"},
        Broken{"ReservedAt18", [](Wire& w) { w.reserved_at_18 = 1; }, "reserved"},
        Broken{"ReservedAt19", [](Wire& w) { w.reserved_at_18 = 0x8000; }, "reserved"},
        Broken{"IsFloat2", [](Wire& w) { w.is_float = 2; }, "is_float"},
        Broken{"IsSigned2", [](Wire& w) { w.is_signed = 2; }, "is_signed"},
        Broken{"SignedFloat", [](Wire& w) { w.is_signed = 1; }, "is_signed"},
        Broken{"SignBits2", [](Wire& w) { w.sign_bits = 2; }, "sign_bits"},
        Broken{"HasNan2", [](Wire& w) { w.has_nan = 2; }, "has_nan"},
        Broken{"HasInf255", [](Wire& w) { w.has_inf = 255; }, "has_inf"},
        Broken{"IntegerWithSignBits", [](Wire& w) { w.sign_bits = 1; }, "sign_bits", true},
        Broken{"IntegerWithExponent", [](Wire& w) { w.exponent_bits = 1; }, "exponent_bits", true},
        Broken{"IntegerWithMantissa", [](Wire& w) { w.mantissa_bits = 1; }, "mantissa_bits", true},
        Broken{"IntegerWithBias", [](Wire& w) { w.exponent_bias = 1; }, "exponent_bias", true},
        Broken{"IntegerWithNan", [](Wire& w) { w.has_nan = 1; }, "has_nan", true},
        Broken{"IntegerWithInf", [](Wire& w) { w.has_inf = 1; }, "has_inf", true}),
    [](const auto& row) { return row.param.name; });

struct Legal {
  std::string name;
  Wire wire;
};

class LegalExtensionType : public testing::TestWithParam<Legal> {};

TEST_P(LegalExtensionType, IsEncodedAgain) {
  auto bytes = GetParam().wire.Encode();
  ExtensionType type = Decoded(bytes);
  EXPECT_EQ(type.packing_factor(), GetParam().wire.packing_factor);
  std::vector<uint8_t> again(ExtensionType::kEncodedSize, 0xEE);
  ByteWriter out(again);
  type.Encode(out);
  EXPECT_EQ(again, bytes);
}

INSTANTIATE_TEST_SUITE_P(Rows, LegalExtensionType,
                         testing::Values(Legal{"Float16", {}}, Legal{"Bit", Integer(1, 8)},
                                         Legal{"TwoBits", Integer(2, 4)},
                                         Legal{"FourBits", Integer(4, 2)},
                                         Legal{"Byte", Integer(8, 1)},
                                         Legal{"TwelveBits", Integer(12, 1)},
                                         Legal{"WidestInteger", Integer(UINT32_MAX, 1)}),
                         [](const auto& row) { return row.param.name; });

TEST(ExtensionType, KeepsEveryField) {
  ExtensionType type = Decoded(Wire{}.Encode());
  EXPECT_EQ(type.bit_width, 16u);
  EXPECT_TRUE(type.is_float);
  EXPECT_FALSE(type.is_signed);
  EXPECT_EQ(type.sign_bits, 1);
  EXPECT_EQ(type.exponent_bits, 5);
  EXPECT_EQ(type.mantissa_bits, 10);
  EXPECT_EQ(type.exponent_bias, 15u);
  EXPECT_TRUE(type.has_nan);
  EXPECT_TRUE(type.has_inf);
}

TEST(ExtensionType, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(Wire{}.Encode(), [](std::span<const uint8_t> input) {
    EXPECT_THAT([&] { Decoded(input); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "truncated"));
  });
}

}  // namespace
}  // namespace hurray
