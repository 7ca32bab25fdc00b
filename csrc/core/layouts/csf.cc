#include "core/layouts/csf.h"

#include "core/layouts/index_table.h"

namespace hurray {

namespace {

size_t PositionsOf(size_t level) noexcept { return 2 * level + 1; }
size_t CoordinatesOf(size_t level) noexcept { return 2 * level + 2; }

void CheckPermutation(const SmallVector<uint32_t, 8>& mode_order) {
  uint64_t seen = 0;
  for (size_t level = 0; level < mode_order.size(); ++level) {
    uint32_t mode = mode_order[level];
    if (mode >= mode_order.size() || ((seen >> mode) & 1) != 0) {
      ThrowInvalidDescriptor(StrCat("layout csf: mode_order[", level, "] is ", mode,
                                    ", mode_order must hold each of 0 to ", mode_order.size() - 1,
                                    " once"));
    }
    seen |= uint64_t{1} << mode;
  }
}

}  // namespace

CsfLayout CsfLayout::Decode(ByteReader& in, size_t rank) {
  CsfLayout layout{in.ReadU64("nnz"), SmallVector<uint32_t, 8>(rank)};
  in.ReadNumbers(std::span(layout.mode_order.data(), rank), "mode_order");
  in.ReadReserved(8, "layout csf");
  CheckPermutation(layout.mode_order);
  return layout;
}

void CsfLayout::Encode(ByteWriter& out) const noexcept {
  out.WriteU64(nnz);
  out.WriteNumbers(std::span<const uint32_t>(mode_order.data(), mode_order.size()));
  out.WriteZeros(8);
}

void CsfLayout::CheckShape(ShapeView shape) const {
  CheckRank(kName, shape, 3);
  if (mode_order.size() != shape.size()) {
    ThrowInvalidDescriptor(StrCat("layout csf has ", mode_order.size(),
                                  " entries in mode_order, the shape ", ShapeText(shape), " needs ",
                                  shape.size()));
  }
  CheckPermutation(mode_order);
}

std::string CsfLayout::BufferRole(size_t index) {
  if (index == 0) return "values";
  size_t level = (index - 1) / 2;
  return StrCat(index % 2 == 1 ? "pos_" : "crd_", level);
}

MinimumSize CsfLayout::MinimumSizeOf(size_t index, const Geometry& geometry) const {
  if (index == 0) return MinimumSize::FromChecked(geometry.packing.SizeBytes(nnz));
  if (index == PositionsOf(0)) return MinimumSize::Bytes(16);
  if (index == CoordinatesOf(mode_order.size() - 1)) {
    return MinimumSize::FromChecked(CheckedMul(nnz, uint64_t{8}));
  }
  return MinimumSize::Unknown();  // only the tables above can tell
}

std::optional<int64_t> CsfLayout::ElementOffset(ShapeView, IndexView index,
                                                BufferSpans buffers) const {
  uint64_t node = 0;
  for (size_t level = 0; level < mode_order.size(); ++level) {
    std::string pos_role = BufferRole(PositionsOf(level));
    std::string crd_role = BufferRole(CoordinatesOf(level));
    // node is a position in the level above, which fits in memory: node + 2 does not wrap.
    IndexTable positions(buffers, PositionsOf(level), kName, pos_role, node + 2);
    IndexTable coordinates = IndexTable::Whole(buffers, CoordinatesOf(level), kName, crd_role);
    Slice slice = SliceOf(positions, coordinates, node);
    auto found = coordinates.Find(index[mode_order[level]], slice.first, slice.last);
    if (!found) return std::nullopt;
    node = *found;
  }
  if (node >= nnz) {
    ThrowInvalidDescriptor(
        StrCat("layout csf: the tables lead to stored element ", node, ", nnz is ", nnz));
  }
  return static_cast<int64_t>(node);
}

void CsfLayout::CheckContents(const Geometry& geometry, BufferSpans buffers) const {
  uint64_t nodes = 1;  // in the level above
  for (size_t level = 0; level < mode_order.size(); ++level) {
    std::string pos_role = BufferRole(PositionsOf(level));
    std::string crd_role = BufferRole(CoordinatesOf(level));
    IndexTable positions(buffers, PositionsOf(level), kName, pos_role, nodes + 1);
    IndexTable coordinates = IndexTable::Whole(buffers, CoordinatesOf(level), kName, crd_role);
    uint32_t mode = mode_order[level];
    uint64_t last = CheckCompressedLevel(positions, coordinates, geometry.shape[mode], mode);
    if (level + 1 == mode_order.size() && last != nnz) {
      positions.Throw(nodes, last, StrCat("nnz, which is ", nnz));
    }
    nodes = last;
  }
}

}  // namespace hurray
