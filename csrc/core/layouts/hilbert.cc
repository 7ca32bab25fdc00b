#include "core/layouts/hilbert.h"

#include <array>
#include <utility>

namespace hurray {

namespace {

constexpr uint64_t kMaxBits = 63;

// The step of Skilling's mapping that mirrors or swaps the low bits of the first coordinate,
// depending on bit `level` of coordinate `d`. It is its own inverse.
void MirrorOrSwap(std::span<uint64_t> c, uint32_t level, size_t d) noexcept {
  uint64_t low = (uint64_t{1} << level) - 1;
  if (((c[d] >> level) & 1) != 0) {
    c[0] ^= low;
  } else {
    uint64_t difference = (c[0] ^ c[d]) & low;
    c[0] ^= difference;
    c[d] ^= difference;
  }
}

}  // namespace

uint64_t HilbertPosition(std::span<const uint64_t> point, uint32_t order) noexcept {
  size_t rank = point.size();
  std::array<uint64_t, kMaxRank> storage;
  std::span<uint64_t> c(storage.data(), rank);
  std::copy(point.begin(), point.end(), c.begin());
  for (uint32_t level = order - 1; level >= 1; --level) {
    for (size_t d = 0; d < rank; ++d) MirrorOrSwap(c, level, d);
  }
  for (size_t d = 1; d < rank; ++d) c[d] ^= c[d - 1];
  uint64_t flip = 0;
  for (uint32_t level = 1; level < order; ++level) {
    if (((c[rank - 1] >> level) & 1) != 0) flip ^= (uint64_t{1} << level) - 1;
  }
  uint64_t position = 0;
  for (size_t d = 0; d < rank; ++d) {
    for (uint32_t b = 0; b < order; ++b) {
      position |= (((c[d] ^ flip) >> b) & 1) << (b * rank + (rank - 1 - d));
    }
  }
  return position;
}

void HilbertPoint(uint64_t position, uint32_t order, std::span<uint64_t> point) noexcept {
  size_t rank = point.size();
  for (size_t d = 0; d < rank; ++d) {
    point[d] = 0;
    for (uint32_t b = 0; b < order; ++b) {
      point[d] |= ((position >> (b * rank + (rank - 1 - d))) & 1) << b;
    }
  }
  uint64_t last = point[rank - 1] >> 1;
  for (size_t d = rank - 1; d >= 1; --d) point[d] ^= point[d - 1];
  point[0] ^= last;
  for (uint32_t level = 1; level < order; ++level) {
    for (size_t d = rank; d-- > 0;) MirrorOrSwap(point, level, d);
  }
}

void HilbertLayout::Check() const {
  if (hilbert_order == 0) {
    ThrowInvalidDescriptor("layout hilbert: hilbert_order is 0, it must be at least 1");
  }
  if (hilbert_rank < 2) {
    ThrowInvalidDescriptor(
        StrCat("layout hilbert: hilbert_rank is ", hilbert_rank, ", it must be at least 2"));
  }
  if (uint64_t bits = uint64_t{hilbert_order} * hilbert_rank; bits > kMaxBits) {
    ThrowInvalidDescriptor(StrCat("layout hilbert: hilbert_rank * hilbert_order is ", bits,
                                  ", at most 63 is allowed"));
  }
}

HilbertLayout HilbertLayout::Decode(ByteReader& in, size_t) {
  uint32_t order = in.ReadU32("hilbert_order");
  uint32_t rank = in.ReadU32("hilbert_rank");
  HilbertLayout layout{{}, order, rank};
  layout.Check();
  return layout;
}

void HilbertLayout::Encode(ByteWriter& out) const noexcept {
  out.WriteU32(hilbert_order);
  out.WriteU32(hilbert_rank);
}

void HilbertLayout::CheckShape(ShapeView shape) const {
  if (hilbert_rank != shape.size()) {
    ThrowInvalidDescriptor(StrCat("layout hilbert: hilbert_rank is ", hilbert_rank, ", the shape ",
                                  ShapeText(shape), " has rank ", shape.size()));
  }
  uint64_t side = uint64_t{1} << hilbert_order;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] != kDynamicExtent && shape[k] != side) {
      ThrowInvalidDescriptor(StrCat("layout hilbert: dimension ", k, " has extent ", shape[k],
                                    ", hilbert_order ", hilbert_order, " needs ", side));
    }
  }
}

MinimumSize HilbertLayout::MinimumSizeOf(size_t, const Geometry& geometry) const {
  if (HasDynamicExtent(geometry.shape)) return MinimumSize::Unknown();
  return DenseMinimum(geometry, uint64_t{1} << (hilbert_order * hilbert_rank));
}

std::optional<int64_t> HilbertLayout::ElementOffset(ShapeView, IndexView index, BufferSpans) const {
  return static_cast<int64_t>(HilbertPosition(index, hilbert_order));
}

}  // namespace hurray
