#include "core/extension_type.h"

#include "core/error.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

bool ReadFlag(ByteReader& in, std::string_view field) {
  uint8_t value = in.ReadU8(field);
  if (value > 1) {
    ThrowInvalidDescriptor(StrCat("extension type: ", field, " is ", value, ", it must be 0 or 1"));
  }
  return value == 1;
}

}  // namespace

Packing Packing::Of(ElementType type, const ExtensionType* extension) noexcept {
  return type.is_private() ? extension->packing() : OfBits(type.bits());
}

void ExtensionType::Check() const {
  if (bit_width == 0) {
    ThrowInvalidDescriptor("extension type: bit_width is 0, it must be greater than 0");
  }
  if (bit_width < 8 && bit_width != 1 && bit_width != 2 && bit_width != 4) {
    ThrowInvalidDescriptor(
        StrCat("extension type: bit_width is ", bit_width, ", below 8 it must be 1, 2 or 4"));
  }
  if (is_float && is_signed) {
    ThrowInvalidDescriptor(
        "extension type: is_signed is true, it must be false where is_float is (a float tells its "
        "sign by sign_bits)");
  }
  if (sign_bits > 1) {
    ThrowInvalidDescriptor(
        StrCat("extension type: sign_bits is ", sign_bits, ", it must be 0 or 1"));
  }
  if (is_float) return;
  auto require_zero = [](uint32_t value, std::string_view field) {
    if (value != 0) {
      ThrowInvalidDescriptor(
          StrCat("extension type: ", field, " is ", value, ", it must be 0 without is_float"));
    }
  };
  require_zero(sign_bits, "sign_bits");
  require_zero(exponent_bits, "exponent_bits");
  require_zero(mantissa_bits, "mantissa_bits");
  require_zero(exponent_bias, "exponent_bias");
  require_zero(has_nan, "has_nan");
  require_zero(has_inf, "has_inf");
}

ExtensionType ExtensionType::Decode(ByteReader& in) {
  ExtensionType type;
  type.bit_width = in.ReadU32("extension type bit_width");
  uint8_t packing_factor = in.ReadU8("extension type packing_factor");
  type.is_float = ReadFlag(in, "is_float");
  type.is_signed = ReadFlag(in, "is_signed");
  type.sign_bits = in.ReadU8("extension type sign_bits");
  type.exponent_bits = in.ReadU8("extension type exponent_bits");
  type.mantissa_bits = in.ReadU8("extension type mantissa_bits");
  in.ReadReserved(2, "extension type");
  type.exponent_bias = in.ReadU32("extension type exponent_bias");
  type.has_nan = ReadFlag(in, "has_nan");
  type.has_inf = ReadFlag(in, "has_inf");
  in.ReadReserved(2, "extension type");
  type.Check();
  if (packing_factor != type.packing_factor()) {
    ThrowInvalidDescriptor(StrCat("extension type: packing_factor is ", packing_factor,
                                  ", bit_width ", type.bit_width, " needs ",
                                  type.packing_factor()));
  }
  return type;
}

void ExtensionType::Encode(ByteWriter& out) const noexcept {
  out.WriteU32(bit_width);
  out.WriteU8(packing_factor());
  out.WriteU8(is_float);
  out.WriteU8(is_signed);
  out.WriteU8(sign_bits);
  out.WriteU8(exponent_bits);
  out.WriteU8(mantissa_bits);
  out.WriteZeros(2);
  out.WriteU32(exponent_bias);
  out.WriteU8(has_nan);
  out.WriteU8(has_inf);
  out.WriteZeros(2);
}

}  // namespace hurray
