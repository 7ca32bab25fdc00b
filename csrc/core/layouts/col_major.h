// Column-major (Fortran order): the first dimension varies fastest. Format: section 5.1.
#pragma once

#include "core/layouts/layout_kind.h"

namespace hurray {

struct ColMajorLayout : DenseLayoutBase {
  static constexpr uint8_t kTag = 0x02;
  static constexpr std::string_view kName = "col_major";

  static ColMajorLayout Decode(ByteReader&, size_t) noexcept { return {}; }
  static void Encode(ByteWriter&) noexcept {}
  static uint8_t tag() noexcept { return kTag; }
  static size_t encoded_size() noexcept { return 0; }

  static void CheckShape(ShapeView) noexcept {}
  static MinimumSize MinimumSizeOf(size_t, const Geometry& geometry);
  static std::optional<int64_t> ElementOffset(ShapeView shape, IndexView index, BufferSpans);

  friend bool operator==(const ColMajorLayout&, const ColMajorLayout&) noexcept = default;
};

}  // namespace hurray
