// CSF: the stored elements as the leaves of a tree with one level per dimension, each level a
// compressed one. Format: section 5.8.
#pragma once

#include "core/layouts/layout_kind.h"

namespace hurray {

struct CsfLayout {
  static constexpr uint8_t kTag = 0x09;
  static constexpr std::string_view kName = "csf";
  static constexpr bool kIsDense = false;
  static constexpr bool kHasByteOffset = false;
  static constexpr bool kAllowsShard = false;

  uint64_t nnz;                         // stored elements
  SmallVector<uint32_t, 8> mode_order;  // the dimension of each level, the root's first

  static CsfLayout Decode(ByteReader& in, size_t rank);
  void Encode(ByteWriter& out) const noexcept;
  static uint8_t tag() noexcept { return kTag; }
  size_t encoded_size() const noexcept { return 16 + 4 * mode_order.size(); }

  void CheckShape(ShapeView shape) const;
  // values, then pos and crd of each level.
  std::optional<size_t> buffer_count() const noexcept { return 2 * mode_order.size() + 1; }
  static std::string BufferRole(size_t index);
  MinimumSize MinimumSizeOf(size_t index, const Geometry& geometry) const;
  std::optional<int64_t> ElementOffset(ShapeView shape, IndexView index, BufferSpans buffers) const;
  void CheckContents(const Geometry& geometry, BufferSpans buffers) const;

  friend bool operator==(const CsfLayout&, const CsfLayout&) noexcept = default;
};

}  // namespace hurray
