// Morton (Z order): the bits of the indices take turns. Format: section 5.4.
#pragma once

#include "core/layouts/layout_kind.h"

namespace hurray {

struct MortonLayout : DenseLayoutBase {
  static constexpr uint8_t kTag = 0x05;
  static constexpr std::string_view kName = "morton";

  SmallVector<uint32_t, 8> morton_bits;  // how many bits of each index take part

  // Throws kInvalidDescriptor unless there are bits, each at least 1, with a sum of at most 63.
  void Check() const;

  static MortonLayout Decode(ByteReader& in, size_t rank);
  void Encode(ByteWriter& out) const noexcept;
  static uint8_t tag() noexcept { return kTag; }
  size_t encoded_size() const noexcept { return 4 * morton_bits.size(); }

  void CheckShape(ShapeView shape) const;
  MinimumSize MinimumSizeOf(size_t, const Geometry& geometry) const;
  std::optional<int64_t> ElementOffset(ShapeView, IndexView index, BufferSpans) const;

  friend bool operator==(const MortonLayout&, const MortonLayout&) noexcept = default;
};

}  // namespace hurray
