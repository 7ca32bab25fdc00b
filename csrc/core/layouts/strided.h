// Explicit strides in elements, which may be negative (a reversed axis) or 0 (a broadcast one).
// Format: section 5.2.
#pragma once

#include "core/layouts/layout_kind.h"

namespace hurray {

struct StridedLayout : DenseLayoutBase {
  static constexpr uint8_t kTag = 0x03;
  static constexpr std::string_view kName = "strided";

  Strides strides;  // one per dimension, in elements

  static StridedLayout Decode(ByteReader& in, size_t rank);
  void Encode(ByteWriter& out) const noexcept;
  static uint8_t tag() noexcept { return kTag; }
  size_t encoded_size() const noexcept { return 8 * strides.size(); }

  void CheckShape(ShapeView shape) const;
  MinimumSize MinimumSizeOf(size_t, const Geometry& geometry) const;
  std::optional<int64_t> ElementOffset(ShapeView, IndexView index, BufferSpans) const;

  friend bool operator==(const StridedLayout&, const StridedLayout&) noexcept = default;
};

// The lowest and highest sum of stride * index over all indices of a shape; nullopt where they
// lie outside what 64-bit element offsets can hold.
struct OffsetExtremes {
  __int128 low;
  __int128 high;
};
std::optional<OffsetExtremes> StridedExtremes(ShapeView shape, std::span<const int64_t> strides);

}  // namespace hurray
