// Shapes: the extents of a tensor, in elements, some of which may not be known yet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/checked_math.h"
#include "core/small_vector.h"

namespace hurray {

inline constexpr size_t kMaxRank = 64;
// The extent of a dimension that is not known yet.
inline constexpr uint64_t kDynamicExtent = UINT64_MAX;

// Up to this rank a shape needs no allocation.
inline constexpr size_t kShortRank = 8;

using Shape = SmallVector<uint64_t, kShortRank>;
using Strides = SmallVector<int64_t, kShortRank>;  // in elements
using ShapeView = std::span<const uint64_t>;
using IndexView = std::span<const uint64_t>;  // one entry per dimension, each below its extent

inline bool HasDynamicExtent(ShapeView shape) noexcept {
  for (uint64_t extent : shape) {
    if (extent == kDynamicExtent) return true;
  }
  return false;
}

inline bool HasZeroExtent(ShapeView shape) noexcept {
  for (uint64_t extent : shape) {
    if (extent == 0) return true;
  }
  return false;
}

// nullopt if 64 bits cannot hold it. REQUIRES: no dynamic extent.
inline std::optional<uint64_t> ElementCount(ShapeView shape) noexcept {
  return CheckedProduct(shape);
}

// Bytes of all elements, `width` bytes each; nullopt if no address space holds them. Memory of a
// few bytes may stand for that many, by strides of 0. REQUIRES: no dynamic extent.
inline std::optional<uint64_t> AddressableBytes(ShapeView shape, uint64_t width) noexcept {
  auto bytes = CheckedMul(ElementCount(shape), width);
  return bytes && *bytes <= uint64_t{PTRDIFF_MAX} ? bytes : std::nullopt;
}

// "[2, None, 3]", for messages.
std::string ShapeText(ShapeView shape);

}  // namespace hurray
