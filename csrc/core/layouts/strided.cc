#include "core/layouts/strided.h"

namespace hurray {

StridedLayout StridedLayout::Decode(ByteReader& in, size_t rank) {
  StridedLayout layout{{}, Strides(rank)};
  in.ReadNumbers(std::span(layout.strides.data(), rank), "strides");
  return layout;
}

void StridedLayout::Encode(ByteWriter& out) const noexcept {
  out.WriteNumbers(std::span<const int64_t>(strides.data(), strides.size()));
}

void StridedLayout::CheckShape(ShapeView shape) const {
  CheckRank(kName, shape, 1);
  if (strides.size() != shape.size()) {
    ThrowInvalidDescriptor(StrCat("layout strided has ", strides.size(), " strides, the shape ",
                                  ShapeText(shape), " needs ", shape.size()));
  }
}

MinimumSize StridedLayout::MinimumSizeOf(size_t, const Geometry& geometry) const {
  if (HasDynamicExtent(geometry.shape)) return MinimumSize::Unknown();
  if (HasZeroExtent(geometry.shape)) return MinimumSize::Bytes(geometry.byte_offset);
  auto extremes = StridedExtremes(geometry.shape, {strides.data(), strides.size()});
  if (!extremes) return MinimumSize::Hopeless("its strides reach beyond 64 bits");
  return SpanMinimum(geometry, extremes->low, extremes->high);
}

std::optional<int64_t> StridedLayout::ElementOffset(ShapeView, IndexView index, BufferSpans) const {
  int64_t offset = 0;
  for (size_t k = 0; k < index.size(); ++k) {
    offset += strides[k] * static_cast<int64_t>(index[k]);  // bounded by the size check
  }
  return offset;
}

std::optional<OffsetExtremes> StridedExtremes(ShapeView shape, std::span<const int64_t> strides) {
  constexpr __int128 kLimit = INT64_MAX;
  OffsetExtremes out{0, 0};
  for (size_t k = 0; k < shape.size(); ++k) {
    // At most 2^63 * 2^64 in magnitude: exact in 128 bits.
    __int128 reach = static_cast<__int128>(strides[k]) * static_cast<__int128>(shape[k] - 1);
    (reach < 0 ? out.low : out.high) += reach;
    if (out.low < -kLimit || out.high > kLimit) return std::nullopt;
  }
  return out;
}

}  // namespace hurray
