// Element types: the 26 named ones and the private tags, in one table. Format: section 2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hurray {

// One row of the table.
struct ElementTypeInfo {
  uint8_t tag;
  std::string_view name;
  uint32_t bits;  // per element; 0 for private types, whose width the extension section tells
  uint8_t tier;   // 1 mandatory, 2 optional
  bool is_float;
  bool is_integer;
  bool is_signed;
  uint8_t alignment;  // natural element alignment, bytes
};

inline constexpr uint8_t kFirstPrivateTag = 0xF0;
inline constexpr uint8_t kLastPrivateTag = 0xFE;
inline constexpr bool IsPrivateTag(uint32_t tag) noexcept {
  return tag >= kFirstPrivateTag && tag <= kLastPrivateTag;
}

namespace internal {

inline constexpr size_t kNamedElementTypes = 26;
// Those with names in tag order, then the private ones.
extern const std::array<ElementTypeInfo,
                        kNamedElementTypes + kLastPrivateTag - kFirstPrivateTag + 1>
    kElementTypes;
// By tag: where kElementTypes has it, so that a lookup is two loads.
extern const std::array<uint8_t, 256> kElementTypeRow;
inline constexpr uint8_t kNoElementType = 0xFF;

}  // namespace internal

// A valid element type: a tag that has a row, or a private tag. One byte, passed by value.
class ElementType {
 public:
  // Throws kInvalidDescriptor for 0x00, 0xFF and every tag that means nothing yet.
  static ElementType FromTag(uint8_t tag) {
    if (internal::kElementTypeRow[tag] == internal::kNoElementType) ThrowUnknownTag(tag);
    return ElementType(tag);
  }
  // nullopt for a name that no type has; "extension" is not a name.
  static std::optional<ElementType> FromName(std::string_view name) noexcept;

  constexpr uint8_t tag() const noexcept { return tag_; }
  const ElementTypeInfo& info() const noexcept {
    return internal::kElementTypes[internal::kElementTypeRow[tag_]];
  }
  std::string_view name() const noexcept { return info().name; }
  uint32_t bits() const noexcept { return info().bits; }
  bool is_private() const noexcept { return tag_ >= 0xF0; }
  bool is_sub_byte() const noexcept { return !is_private() && bits() < 8; }

  friend bool operator==(ElementType a, ElementType b) noexcept = default;

 private:
  explicit constexpr ElementType(uint8_t tag) noexcept : tag_(tag) {}
  [[noreturn, gnu::cold]] static void ThrowUnknownTag(uint8_t tag);
  friend struct ElementTypes;
  uint8_t tag_;
};

// All named types in tag order.
std::span<const ElementTypeInfo> NamedElementTypes() noexcept;

// The types that code has to name.
struct ElementTypes {
  static constexpr ElementType kFloat16{0x01}, kBfloat16{0x02}, kFloat32{0x03}, kFloat64{0x04};
  static constexpr ElementType kInt8{0x10}, kUint8{0x11}, kInt16{0x12}, kUint16{0x13};
  static constexpr ElementType kInt32{0x14}, kUint32{0x15}, kInt64{0x16}, kUint64{0x17};
  static constexpr ElementType kBool{0x20};
  static constexpr ElementType kFloat8E4M3{0x40}, kFloat8E5M2{0x41}, kFloat8E8M0{0x42};
  static constexpr ElementType kFloat4E2M1{0x43}, kFloat6E2M3{0x44}, kFloat6E3M2{0x45};
  static constexpr ElementType kFloat128{0x46};
  static constexpr ElementType kInt4{0x48}, kUint4{0x49}, kInt2{0x4A}, kUint2{0x4B};
  static constexpr ElementType kComplex64{0x50}, kComplex128{0x51};
};

}  // namespace hurray
