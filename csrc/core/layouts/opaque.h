// Layouts whose elements this library cannot find: private ones, and tags that a newer version
// of the format may have assigned. Both are carried on unchanged. Format: sections 5.10, 12.1.
#pragma once

#include <vector>

#include "core/layouts/layout_kind.h"

namespace hurray {

// What both have in common: nobody can tell their buffers.
struct OpaqueLayoutBase {
  static constexpr std::string_view kName = "extension";
  static constexpr bool kIsDense = false;
  static constexpr bool kHasByteOffset = true;
  static constexpr bool kAllowsShard = true;
  static std::optional<size_t> buffer_count() noexcept { return std::nullopt; }
  static std::string_view BufferRole(size_t) noexcept { return "data"; }
  static MinimumSize MinimumSizeOf(size_t, const Geometry&) noexcept {
    return MinimumSize::Unknown();
  }
  static void CheckContents(const Geometry&, BufferSpans) noexcept {}
  friend bool operator==(const OpaqueLayoutBase&, const OpaqueLayoutBase&) noexcept = default;
};

struct PrivateExtensionLayout : OpaqueLayoutBase {
  uint8_t tag_byte;  // 0xF0 to 0xFE
  uint64_t extension_layout_id;
  std::vector<uint8_t> extension_data;

  static PrivateExtensionLayout Decode(ByteReader& in, uint8_t tag);
  void Encode(ByteWriter& out) const noexcept;
  uint8_t tag() const noexcept { return tag_byte; }
  size_t encoded_size() const noexcept { return 12 + extension_data.size(); }

  static void CheckShape(ShapeView) noexcept {}
  std::optional<int64_t> ElementOffset(ShapeView, IndexView, BufferSpans) const;

  friend bool operator==(const PrivateExtensionLayout&, const PrivateExtensionLayout&) = default;
};

struct UnknownLayout : OpaqueLayoutBase {
  uint8_t tag_byte;                // a reserved tag
  std::vector<uint8_t> raw_bytes;  // the payload

  void Encode(ByteWriter& out) const noexcept { out.WriteBytes(raw_bytes); }
  uint8_t tag() const noexcept { return tag_byte; }
  size_t encoded_size() const noexcept { return raw_bytes.size(); }

  static void CheckShape(ShapeView shape) { CheckRank(kName, shape, 1); }
  std::optional<int64_t> ElementOffset(ShapeView, IndexView, BufferSpans) const;

  friend bool operator==(const UnknownLayout&, const UnknownLayout&) = default;
};

}  // namespace hurray
