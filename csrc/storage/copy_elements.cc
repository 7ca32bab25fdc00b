#include "storage/copy_elements.h"

#include <array>
#include <cstring>

#include "core/shape.h"

namespace hurray {

namespace {

// Calls `visit(offset)` for every element in row-major order; `offset` is the sum of
// stride * index. Calls nothing if an extent is 0.
template <typename Stride, typename Visit>
void ForEachOffset(std::span<const uint64_t> shape, std::span<const Stride> strides,
                   Visit&& visit) noexcept {
  for (uint64_t extent : shape) {
    if (extent == 0) return;
  }
  std::array<uint64_t, kMaxRank> index{};
  Stride offset = 0;
  while (true) {
    visit(offset);
    size_t k = shape.size();
    while (k-- > 0) {
      if (++index[k] < shape[k]) {
        offset += strides[k];
        break;
      }
      offset -= strides[k] * static_cast<Stride>(shape[k] - 1);
      index[k] = 0;
      if (k == 0) return;
    }
    if (shape.empty()) return;
  }
}

uint8_t PackEight(const uint8_t* bools, size_t count) noexcept {
  unsigned byte = 0;
  for (size_t bit = 0; bit < count; ++bit) {
    byte |= static_cast<unsigned>(bools[bit] != 0) << bit;
  }
  return static_cast<uint8_t>(byte);
}

}  // namespace

void PackBools(const uint8_t* bools, size_t count, uint8_t* packed) noexcept {
  size_t whole = count / 8;
  for (size_t i = 0; i < whole; ++i) packed[i] = PackEight(bools + 8 * i, 8);
  if (count % 8 != 0) packed[whole] = PackEight(bools + 8 * whole, count % 8);
}

void UnpackBools(const uint8_t* packed, size_t count, uint8_t* bools) noexcept {
  for (size_t i = 0; i < count; ++i) {
    bools[i] = static_cast<uint8_t>(packed[i / 8] >> (i % 8) & 1);
  }
}

void PackCodes(const uint8_t* codes, size_t count, unsigned bits, uint8_t* packed) noexcept {
  // A group fills whole bytes: 4 codes of 6 bits, else as many as go into one byte.
  const size_t group = bits == 6 ? 4 : 8 / bits;
  const size_t group_bytes = bits == 6 ? 3 : 1;
  const unsigned mask = (1u << bits) - 1;
  for (size_t i = 0; i < count; i += group) {
    unsigned word = 0;
    for (size_t j = 0; j < group && i + j < count; ++j) {
      word |= (codes[i + j] & mask) << (j * bits);
    }
    for (size_t b = 0; b < group_bytes; ++b) *packed++ = static_cast<uint8_t>(word >> (8 * b));
  }
}

void GatherElements(const uint8_t* first, std::span<const uint64_t> shape,
                    std::span<const ptrdiff_t> strides, size_t width, uint8_t* out) noexcept {
  ForEachOffset(shape, strides, [&](ptrdiff_t offset) {
    std::memcpy(out, first + offset, width);
    out += width;
  });
}

void GatherBools(const uint8_t* first, std::span<const uint64_t> shape,
                 std::span<const int64_t> strides, uint8_t* out) noexcept {
  ForEachOffset(shape, strides, [&](int64_t offset) {
    // Arithmetic shift and mask: floor division, for offsets below 0 too.
    *out++ = static_cast<uint8_t>(first[offset >> 3] >> (offset & 7) & 1);
  });
}

}  // namespace hurray
