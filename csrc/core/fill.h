// Elements made from numbers, and the patterns that creation functions fill buffers with: one
// value, a progression, a diagonal. For the types that have arithmetic: tier 1, complex64 and
// complex128; all functions require one of them.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/element_type.h"

namespace hurray {

bool HasArithmetic(ElementType type) noexcept;

// The bytes of one element; of a bool, whose element is a bit, a byte that is 0 or 1.
struct Element {
  std::array<uint8_t, 16> bytes{};
  size_t size = 0;

  bool is_zero() const noexcept { return bytes == std::array<uint8_t, 16>{}; }
};

// Integer types keep the value or throw kOverflow; other types round it to the nearest, and a
// bool is whether it is not 0.
Element ElementFromInteger(ElementType type, int64_t value);
Element ElementFromInteger(ElementType type, uint64_t value);
// Integer types drop the fraction and throw kOverflow for what then does not fit; float types
// round to the nearest, beyond their largest to infinity. REQUIRES: not bool.
Element ElementFromReal(ElementType type, double value);
// REQUIRES: a complex type.
Element ElementFromComplex(ElementType type, std::complex<double> value);

// In what follows `out` is exactly as long as `count` packed elements.

// Every element is `element`; padding bits are 0.
void FillElements(std::span<uint8_t> out, ElementType type, const Element& element,
                  uint64_t count) noexcept;

// Element i is start + i * step, computed without rounding. All arithmetic is modulo 2^64; the
// values are unsigned for uint64 and signed for all other types. Throws kOverflow before anything
// is written. REQUIRES: not bool.
void FillIntegers(std::span<uint8_t> out, ElementType type, uint64_t start, uint64_t step,
                  uint64_t count);

// Element i is start + i * step, as ElementFromReal stores it; throws kOverflow where that does.
// REQUIRES: not bool.
void FillReals(std::span<uint8_t> out, ElementType type, double start, double step, uint64_t count);

// `count` evenly spaced values from `start` to `stop`, which is the last one exactly if `endpoint`
// is set and otherwise left out. Stored, and throws, as FillReals. REQUIRES: not bool.
void FillInterval(std::span<uint8_t> out, ElementType type, double start, double stop,
                  uint64_t count, bool endpoint);

// Sets the elements of a zeroed row-major matrix whose column less row is `k` to 1.
// REQUIRES: rows * columns elements fit in `out`.
void FillDiagonal(std::span<uint8_t> out, ElementType type, uint64_t rows, uint64_t columns,
                  int64_t k) noexcept;

}  // namespace hurray
