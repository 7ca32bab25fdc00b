#include "python/dlpack.h"

namespace hurray {

namespace {

struct TypePair {
  ElementType element;
  uint8_t code;
  uint8_t bits;
};

constexpr TypePair kPairs[] = {
    {ElementTypes::kInt8, kDLInt, 8},
    {ElementTypes::kInt16, kDLInt, 16},
    {ElementTypes::kInt32, kDLInt, 32},
    {ElementTypes::kInt64, kDLInt, 64},
    {ElementTypes::kUint8, kDLUInt, 8},
    {ElementTypes::kUint16, kDLUInt, 16},
    {ElementTypes::kUint32, kDLUInt, 32},
    {ElementTypes::kUint64, kDLUInt, 64},
    {ElementTypes::kFloat16, kDLFloat, 16},
    {ElementTypes::kFloat32, kDLFloat, 32},
    {ElementTypes::kFloat64, kDLFloat, 64},
    {ElementTypes::kBfloat16, kDLBfloat, 16},
    {ElementTypes::kComplex64, kDLComplex, 64},
    {ElementTypes::kComplex128, kDLComplex, 128},
    {ElementTypes::kFloat8E4M3, kDLFloat8_e4m3fn, 8},
    {ElementTypes::kFloat8E5M2, kDLFloat8_e5m2, 8},
    {ElementTypes::kFloat8E8M0, kDLFloat8_e8m0fnu, 8},
};

}  // namespace

std::optional<DLDataType> DlpackTypeOf(ElementType type) noexcept {
  for (const TypePair& pair : kPairs) {
    if (pair.element == type) return DLDataType{pair.code, pair.bits, 1};
  }
  return std::nullopt;
}

std::optional<ElementType> ElementTypeOfDlpack(DLDataType type) noexcept {
  // The first to be looked for, as it is what most tensors have.
  if (type.code == kDLFloat && type.bits == 32 && type.lanes == 1) return ElementTypes::kFloat32;
  for (const TypePair& pair : kPairs) {
    if (pair.code == type.code && pair.bits == type.bits && type.lanes == 1) return pair.element;
  }
  return std::nullopt;
}

}  // namespace hurray
