// Row-major (C order): the last dimension varies fastest. Format: section 5.1.
#pragma once

#include "core/layouts/layout_kind.h"

namespace hurray {

struct RowMajorLayout : DenseLayoutBase {
  static constexpr uint8_t kTag = 0x01;
  static constexpr std::string_view kName = "row_major";

  static RowMajorLayout Decode(ByteReader&, size_t) noexcept { return {}; }
  static void Encode(ByteWriter&) noexcept {}
  static uint8_t tag() noexcept { return kTag; }
  static size_t encoded_size() noexcept { return 0; }

  static void CheckShape(ShapeView) noexcept {}
  static MinimumSize MinimumSizeOf(size_t, const Geometry& geometry) {
    if (HasDynamicExtent(geometry.shape)) return MinimumSize::Unknown();
    return DenseMinimum(geometry, ElementCount(geometry.shape));
  }
  static std::optional<int64_t> ElementOffset(ShapeView shape, IndexView index, BufferSpans);

  friend bool operator==(const RowMajorLayout&, const RowMajorLayout&) noexcept = default;
};

// Offset of `index` in a row-major (column-major) array of these extents. Wraps silently where
// the element count of the extents exceeds 64 bits.
uint64_t RowMajorOffset(ShapeView extents, IndexView index) noexcept;
uint64_t ColMajorOffset(ShapeView extents, IndexView index) noexcept;

}  // namespace hurray
