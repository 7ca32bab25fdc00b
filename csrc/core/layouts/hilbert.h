// Hilbert: elements lie along a space-filling curve through a cube of 2^order elements per side,
// so that neighbours on the curve are neighbours in the tensor. Format: section 5.5.
#pragma once

#include "core/layouts/layout_kind.h"

namespace hurray {

struct HilbertLayout : DenseLayoutBase {
  static constexpr uint8_t kTag = 0x40;
  static constexpr std::string_view kName = "hilbert";

  uint32_t hilbert_order;
  uint32_t hilbert_rank;

  // Throws kInvalidDescriptor unless order >= 1, rank >= 2 and their product is at most 63.
  void Check() const;

  static HilbertLayout Decode(ByteReader& in, size_t);
  void Encode(ByteWriter& out) const noexcept;
  static uint8_t tag() noexcept { return kTag; }
  static size_t encoded_size() noexcept { return 8; }

  void CheckShape(ShapeView shape) const;
  MinimumSize MinimumSizeOf(size_t, const Geometry& geometry) const;
  std::optional<int64_t> ElementOffset(ShapeView, IndexView index, BufferSpans) const;

  friend bool operator==(const HilbertLayout&, const HilbertLayout&) noexcept = default;
};

// Position of a point on the curve, and the point at a position.
// REQUIRES: point.size() >= 2, order >= 1, their product is at most 63, all values in range.
uint64_t HilbertPosition(std::span<const uint64_t> point, uint32_t order) noexcept;
void HilbertPoint(uint64_t position, uint32_t order, std::span<uint64_t> point) noexcept;

}  // namespace hurray
