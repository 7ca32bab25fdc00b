// How elements sit in bytes, and how many bytes a number of them needs. Format: section 2.1.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "core/checked_math.h"
#include "core/element_type.h"

namespace hurray {

struct ExtensionType;

// Elements come in groups that fill whole bytes: 8 bools in 1 byte, 4 six-bit floats in 3,
// 1 float32 in 4.
struct Packing {
  uint32_t bits;            // per element
  uint32_t group_elements;  // elements in a group
  uint32_t group_bytes;     // bytes of a group

  // REQUIRES: extension is set exactly for private types.
  static Packing Of(ElementType type, const ExtensionType* extension = nullptr) noexcept;
  static constexpr Packing OfBits(uint32_t bits) noexcept {
    if (bits >= 8) return {bits, 1, bits / 8 + (bits % 8 != 0 ? 1u : 0u)};
    if (bits == 6) return {bits, 4, 3};
    return {bits, 8u >> std::countr_zero(bits), 1};
  }

  // Bytes of `count` packed elements; nullopt if 64 bits cannot tell.
  std::optional<uint64_t> SizeBytes(uint64_t count) const noexcept {
    // All groups have a power of two of elements; dividing by it would take longer than all else.
    uint64_t groups =
        (count >> std::countr_zero(group_elements)) + ((count & (group_elements - 1)) != 0 ? 1 : 0);
    return CheckedMul(groups, group_bytes);
  }

  // The bytes that hold elements with linear offsets from `low` to `high`, relative to the
  // tensor's first element: [first, last). Offsets may be negative.
  struct ByteRange {
    __int128 first;
    __int128 last;
  };
  ByteRange BytesOf(__int128 low, __int128 high) const noexcept {
    return {FloorDiv(low, group_elements) * group_bytes,
            (FloorDiv(high, group_elements) + 1) * group_bytes};
  }

 private:
  static constexpr __int128 FloorDiv(__int128 a, __int128 b) noexcept {
    return a / b - (a % b < 0 ? 1 : 0);
  }
};

}  // namespace hurray
