// Arithmetic on numbers that somebody else supplied: every result is checked, none wraps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace hurray {

inline std::optional<uint64_t> CheckedAdd(uint64_t a, uint64_t b) noexcept {
  uint64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<uint64_t> CheckedMul(uint64_t a, uint64_t b) noexcept {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The lift of both to operands that may already have overflowed.
inline std::optional<uint64_t> CheckedAdd(std::optional<uint64_t> a,
                                          std::optional<uint64_t> b) noexcept {
  return a && b ? CheckedAdd(*a, *b) : std::nullopt;
}
inline std::optional<uint64_t> CheckedMul(std::optional<uint64_t> a,
                                          std::optional<uint64_t> b) noexcept {
  return a && b ? CheckedMul(*a, *b) : std::nullopt;
}

// Product of the factors; 0 if one of them is 0, whatever the others are; nullopt if it
// exceeds 64 bits.
inline std::optional<uint64_t> CheckedProduct(std::span<const uint64_t> factors) noexcept {
  for (uint64_t factor : factors) {
    if (factor == 0) return uint64_t{0};
  }
  uint64_t product = 1;
  for (uint64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  }
  return product;
}

inline constexpr uint64_t CeilDiv(uint64_t a, uint64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

// `value` rounded up to a multiple of `alignment`; nullopt if that exceeds 64 bits.
// REQUIRES: alignment is a power of two.
inline std::optional<uint64_t> CheckedAlignUp(uint64_t value, uint64_t alignment) noexcept {
  auto sum = CheckedAdd(value, alignment - 1);
  if (!sum) return std::nullopt;
  return *sum & ~(alignment - 1);
}

inline constexpr bool IsPowerOfTwo(uint64_t value) noexcept {
  return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace hurray
