// The two 16-bit floating-point types, which C++ does not have. Format: section 2.
#pragma once

#include <cstdint>

namespace hurray {

// The bits of the nearest value, ties to even, as IEEE 754 rounds: infinity beyond the largest,
// subnormal values below the smallest, NaN stays NaN. Rounding once, not by way of float.
uint16_t Float16FromDouble(double value) noexcept;
uint16_t Bfloat16FromDouble(double value) noexcept;

// The double that is next to an integer and from which a further rounding to 51 bits or less
// gives what rounding the integer itself would: the integer if a double can hold it, else the
// neighbour whose last bit is set.
double RoundToOdd(int64_t value) noexcept;
// The same from the nearest double to an integer of any size, given on which side of that double
// the integer lies: below 0 under it, 0 exactly at it, above 0 over it.
double RoundToOdd(double nearest, int side) noexcept;

}  // namespace hurray
