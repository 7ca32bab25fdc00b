#include "core/element_type.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/error.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

constexpr std::array<ElementTypeInfo, internal::kNamedElementTypes> kNamed{{
    // tag, name, bits, tier, float, integer, signed, alignment
    {0x01, "float16", 16, 1, true, false, true, 2},
    {0x02, "bfloat16", 16, 1, true, false, true, 2},
    {0x03, "float32", 32, 1, true, false, true, 4},
    {0x04, "float64", 64, 1, true, false, true, 8},
    {0x10, "int8", 8, 1, false, true, true, 1},
    {0x11, "uint8", 8, 1, false, true, false, 1},
    {0x12, "int16", 16, 1, false, true, true, 2},
    {0x13, "uint16", 16, 1, false, true, false, 2},
    {0x14, "int32", 32, 1, false, true, true, 4},
    {0x15, "uint32", 32, 1, false, true, false, 4},
    {0x16, "int64", 64, 1, false, true, true, 8},
    {0x17, "uint64", 64, 1, false, true, false, 8},
    {0x20, "bool", 1, 1, false, false, false, 1},
    {0x40, "float8_e4m3", 8, 2, true, false, true, 1},
    {0x41, "float8_e5m2", 8, 2, true, false, true, 1},
    {0x42, "float8_e8m0", 8, 2, true, false, false, 1},
    {0x43, "float4_e2m1", 4, 2, true, false, true, 1},
    {0x44, "float6_e2m3", 6, 2, true, false, true, 1},
    {0x45, "float6_e3m2", 6, 2, true, false, true, 1},
    {0x46, "float128", 128, 2, true, false, true, 16},
    {0x48, "int4", 4, 2, false, true, true, 1},
    {0x49, "uint4", 4, 2, false, true, false, 1},
    {0x4A, "int2", 2, 2, false, true, true, 1},
    {0x4B, "uint2", 2, 2, false, true, false, 1},
    {0x50, "complex64", 64, 2, true, false, true, 4},
    {0x51, "complex128", 128, 2, true, false, true, 8},
}};

}  // namespace

namespace internal {

constexpr decltype(kElementTypes) kElementTypes = [] {
  std::remove_const_t<decltype(kElementTypes)> rows{};
  std::copy(kNamed.begin(), kNamed.end(), rows.begin());
  for (uint8_t tag = kFirstPrivateTag; tag <= kLastPrivateTag; ++tag) {
    rows[kNamed.size() + tag - kFirstPrivateTag] = {tag, "extension", 0, 2, false, false, false, 1};
  }
  return rows;
}();

constexpr decltype(kElementTypeRow) kElementTypeRow = [] {
  std::remove_const_t<decltype(kElementTypeRow)> rows{};
  rows.fill(kNoElementType);
  for (size_t i = 0; i < kElementTypes.size(); ++i) {
    rows[kElementTypes[i].tag] = static_cast<uint8_t>(i);
  }
  return rows;
}();

}  // namespace internal

void ElementType::ThrowUnknownTag(uint8_t tag) {
  ThrowInvalidDescriptor(StrCat("type_tag is ", HexByte(tag), ", which ",
                                tag == 0x00 || tag == 0xFF ? "is never valid" : "names no type",
                                "; see hurray.dtype for the types there are"));
}

std::optional<ElementType> ElementType::FromName(std::string_view name) noexcept {
  for (const ElementTypeInfo& row : kNamed) {
    if (row.name == name) return ElementType(row.tag);
  }
  return std::nullopt;
}

std::span<const ElementTypeInfo> NamedElementTypes() noexcept { return kNamed; }

}  // namespace hurray
