// The sizes in which small blocks come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "storage/block_header.h"

namespace hurray {

// A small block of class c takes kSizeClasses.stride[c] bytes of its slab, a multiple of 64, of
// which all but kBeforeBlock are its user's. To 1 KiB the classes are 64 bytes apart, from there on
// four to each doubling.
inline constexpr size_t kLargestSmall = size_t{32} << 10;
inline constexpr size_t kFineClasses = (1024 + kBeforeBlock + 63) / 64;
inline constexpr size_t kClassCount = kFineClasses + 4 * 5;

struct SizeClasses {
  static constexpr size_t kLines = (kLargestSmall + kBeforeBlock + 63) / 64;

  std::array<uint32_t, kClassCount> stride{};
  std::array<uint8_t, kLines + 1> by_lines{};  // the class for a block of that many 64 bytes

  constexpr SizeClasses() {
    size_t count = 0;
    while (count < kFineClasses) {
      stride[count] = static_cast<uint32_t>(64 * (count + 1));
      ++count;
    }
    for (size_t doubling = 1024; doubling < kLargestSmall; doubling *= 2) {
      for (size_t quarter = 1; quarter <= 4; ++quarter) {
        size_t capacity = doubling + quarter * doubling / 4;
        stride[count++] = static_cast<uint32_t>((capacity + kBeforeBlock + 63) / 64 * 64);
      }
    }
    uint8_t size_class = 0;
    for (size_t lines = 1; lines <= kLines; ++lines) {
      if (lines * 64 > stride[size_class]) ++size_class;
      by_lines[lines] = size_class;
    }
  }
};
inline constexpr SizeClasses kSizeClasses;
static_assert(kSizeClasses.by_lines[SizeClasses::kLines] == kClassCount - 1);

// REQUIRES: size <= kLargestSmall.
constexpr size_t ClassOf(size_t size) noexcept {
  return kSizeClasses.by_lines[(size + kBeforeBlock + 63) / 64];
}
constexpr size_t CapacityOf(size_t size_class) noexcept {
  return kSizeClasses.stride[size_class] - kBeforeBlock;
}

}  // namespace hurray
