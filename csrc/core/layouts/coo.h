// COO: the stored elements with their coordinates, in any order or sorted. Format: section 5.6.
#pragma once

#include "core/layouts/layout_kind.h"

namespace hurray {

struct CooLayout {
  static constexpr uint8_t kTag = 0x06;
  static constexpr std::string_view kName = "coo";
  static constexpr bool kIsDense = false;
  static constexpr bool kHasByteOffset = false;
  static constexpr bool kAllowsShard = true;

  uint64_t nnz;            // stored elements
  bool is_sorted = false;  // coordinates ascend, the first dimension counting most

  static CooLayout Decode(ByteReader& in, size_t);
  void Encode(ByteWriter& out) const noexcept;
  static uint8_t tag() noexcept { return kTag; }
  static size_t encoded_size() noexcept { return 16; }

  static void CheckShape(ShapeView shape) { CheckRank(kName, shape, 1); }
  static std::optional<size_t> buffer_count() noexcept { return 2; }
  static std::string_view BufferRole(size_t index) noexcept {
    return index == 0 ? "values" : "indices";
  }
  MinimumSize MinimumSizeOf(size_t index, const Geometry& geometry) const;
  // Takes time in proportion to nnz unless is_sorted.
  std::optional<int64_t> ElementOffset(ShapeView shape, IndexView index, BufferSpans buffers) const;
  void CheckContents(const Geometry& geometry, BufferSpans buffers) const;

  friend bool operator==(const CooLayout&, const CooLayout&) noexcept = default;
};

}  // namespace hurray
