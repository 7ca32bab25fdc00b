#include "core/layouts/morton.h"

#include <algorithm>

namespace hurray {

namespace {

constexpr uint64_t kMaxBits = 63;

uint64_t SumOf(const SmallVector<uint32_t, 8>& bits) noexcept {
  uint64_t sum = 0;
  for (uint32_t count : bits) sum += count;
  return sum;
}

// Bit b of index[k] becomes bit b * rank + k. REQUIRES: CheckShape passed.
uint64_t CodeOf(const SmallVector<uint32_t, 8>& bits, IndexView index) noexcept {
  size_t rank = index.size();
  uint64_t code = 0;
  for (size_t k = 0; k < rank; ++k) {
    size_t position = k;
    for (uint32_t b = 0; b < bits[k]; ++b, position += rank) {
      code |= ((index[k] >> b) & 1) << position;
    }
  }
  return code;
}

}  // namespace

void MortonLayout::Check() const {
  if (morton_bits.empty()) ThrowInvalidDescriptor("layout morton: morton_bits is empty");
  for (size_t k = 0; k < morton_bits.size(); ++k) {
    if (morton_bits[k] == 0) {
      ThrowInvalidDescriptor(
          StrCat("layout morton: morton_bits[", k, "] is 0, it must be at least 1"));
    }
  }
  if (uint64_t sum = SumOf(morton_bits); sum > kMaxBits) {
    ThrowInvalidDescriptor(
        StrCat("layout morton: morton_bits add up to ", sum, ", at most 63 are allowed"));
  }
}

MortonLayout MortonLayout::Decode(ByteReader& in, size_t rank) {
  MortonLayout layout{{}, SmallVector<uint32_t, 8>(rank)};
  in.ReadNumbers(std::span(layout.morton_bits.data(), rank), "morton_bits");
  layout.Check();
  return layout;
}

void MortonLayout::Encode(ByteWriter& out) const noexcept {
  out.WriteNumbers(std::span<const uint32_t>(morton_bits.data(), morton_bits.size()));
}

void MortonLayout::CheckShape(ShapeView shape) const {
  CheckRank(kName, shape, 1);
  if (morton_bits.size() != shape.size()) {
    ThrowInvalidDescriptor(StrCat("layout morton has ", morton_bits.size(),
                                  " entries in morton_bits, the shape ", ShapeText(shape),
                                  " needs ", shape.size()));
  }
  for (size_t k = 0; k < shape.size(); ++k) {
    // Uneven bits spread further than their sum: the top bit of a long index may leave the code.
    uint64_t top = (uint64_t{morton_bits[k]} - 1) * shape.size() + k;
    if (top > kMaxBits) {
      ThrowInvalidDescriptor(StrCat("layout morton: morton_bits[", k, "] is ", morton_bits[k],
                                    ", which puts an index bit at position ", top,
                                    " of the code, the last one is 63"));
    }
    if (shape[k] != kDynamicExtent && shape[k] > uint64_t{1} << morton_bits[k]) {
      ThrowInvalidDescriptor(StrCat("layout morton: dimension ", k, " has extent ", shape[k],
                                    ", morton_bits[", k, "] = ", morton_bits[k], " allows at most ",
                                    uint64_t{1} << morton_bits[k]));
    }
  }
}

MinimumSize MortonLayout::MinimumSizeOf(size_t, const Geometry& geometry) const {
  if (HasDynamicExtent(geometry.shape)) return MinimumSize::Unknown();
  if (HasZeroExtent(geometry.shape)) return MinimumSize::Bytes(geometry.byte_offset);
  Shape last(geometry.shape);
  for (uint64_t& extent : last) --extent;
  // Codes grow with each index, so the last index has the largest one.
  uint64_t code = CodeOf(morton_bits, {last.data(), last.size()});
  if (code >= uint64_t{INT64_MAX}) return MinimumSize::Hopeless("its codes reach beyond 63 bits");
  return DenseMinimum(geometry, std::max(uint64_t{1} << SumOf(morton_bits), code + 1));
}

std::optional<int64_t> MortonLayout::ElementOffset(ShapeView, IndexView index, BufferSpans) const {
  return static_cast<int64_t>(CodeOf(morton_bits, index));
}

}  // namespace hurray
