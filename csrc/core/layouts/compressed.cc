#include "core/layouts/compressed.h"

#include "core/layouts/index_table.h"

namespace hurray {

namespace {

// Both tables of a compressed matrix.
template <typename Kind>
struct Tables {
  Tables(const Kind& kind, ShapeView shape, BufferSpans buffers)
      : indices(buffers, 1, Kind::kName, Kind::BufferRole(1), kind.nnz),
        pointers(buffers, 2, Kind::kName, Kind::BufferRole(2), shape[1 - Kind::kMinor] + 1) {}
  IndexTable indices;
  IndexTable pointers;
};

}  // namespace

template <size_t kMajor>
CompressedLayout<kMajor> CompressedLayout<kMajor>::Decode(ByteReader& in, size_t) {
  uint64_t nnz = in.ReadU64("nnz");
  in.ReadReserved(8, StrCat("layout ", kName));
  return {nnz};
}

template <size_t kMajor>
void CompressedLayout<kMajor>::Encode(ByteWriter& out) const noexcept {
  out.WriteU64(nnz);
  out.WriteZeros(8);
}

template <size_t kMajor>
MinimumSize CompressedLayout<kMajor>::MinimumSizeOf(size_t index, const Geometry& geometry) const {
  if (index == 0) return MinimumSize::FromChecked(geometry.packing.SizeBytes(nnz));
  if (index == 1) return MinimumSize::FromChecked(CheckedMul(nnz, uint64_t{8}));
  uint64_t slots = geometry.shape[kMajor];
  if (slots == kDynamicExtent) return MinimumSize::Unknown();
  return MinimumSize::FromChecked(CheckedMul(slots + 1, uint64_t{8}));
}

template <size_t kMajor>
std::optional<int64_t> CompressedLayout<kMajor>::ElementOffset(ShapeView shape, IndexView index,
                                                               BufferSpans buffers) const {
  Tables tables(*this, shape, buffers);
  Slice slice = SliceOf(tables.pointers, tables.indices, index[kMajor]);
  auto found = tables.indices.Find(index[kMinor], slice.first, slice.last);
  if (!found) return std::nullopt;
  return static_cast<int64_t>(*found);
}

template <size_t kMajor>
void CompressedLayout<kMajor>::CheckContents(const Geometry& geometry, BufferSpans buffers) const {
  ShapeView shape = geometry.shape;
  // How many pointers there are is not known until the extent is.
  if (shape[kMajor] == kDynamicExtent) return;
  Tables tables(*this, shape, buffers);
  uint64_t last = CheckCompressedLevel(tables.pointers, tables.indices, shape[kMinor], kMinor);
  if (last != nnz) tables.pointers.Throw(shape[kMajor], last, StrCat("nnz, which is ", nnz));
}

template struct CompressedLayout<0>;
template struct CompressedLayout<1>;

}  // namespace hurray
