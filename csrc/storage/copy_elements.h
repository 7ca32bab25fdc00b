// Copies of elements between memory forms: packed and unpacked bools, strided and row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hurray {

// A byte per bool (any other than 0 is true) into a bit per bool, the first in the lowest bit.
// Unused bits of the last byte become 0.
void PackBools(const uint8_t* bools, size_t count, uint8_t* packed) noexcept;
// The reverse; bytes become 0 or 1.
void UnpackBools(const uint8_t* packed, size_t count, uint8_t* bools) noexcept;

// A byte per element of 2, 4 or 6 bits, of which the low ones count, into the format's packed form
// (section 2.1). Unused bits become 0.
void PackCodes(const uint8_t* codes, size_t count, unsigned bits, uint8_t* packed) noexcept;

// Elements of `width` bytes with the given extents and byte strides, in row-major order, to `out`.
// REQUIRES: every element lies in memory that may be read.
void GatherElements(const uint8_t* first, std::span<const uint64_t> shape,
                    std::span<const ptrdiff_t> strides, size_t width, uint8_t* out) noexcept;
// Bools whose strides count bits from bit 0 of `first`, in row-major order, a byte each.
void GatherBools(const uint8_t* first, std::span<const uint64_t> shape,
                 std::span<const int64_t> strides, uint8_t* out) noexcept;

}  // namespace hurray
