#include "core/layouts/coo.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <vector>

#include "core/layouts/index_table.h"

namespace hurray {

namespace {

IndexTable Coordinates(uint64_t nnz, size_t rank, BufferSpans buffers) {
  auto length = CheckedMul(nnz, uint64_t{rank});
  return IndexTable(buffers, 1, CooLayout::kName, CooLayout::BufferRole(1),
                    length.value_or(UINT64_MAX));
}

std::strong_ordering CompareEntry(const IndexTable& table, uint64_t entry, IndexView index) {
  for (size_t d = 0; d < index.size(); ++d) {
    uint64_t coordinate = table[entry * index.size() + d];
    if (coordinate != index[d]) return coordinate <=> index[d];
  }
  return std::strong_ordering::equal;
}

[[noreturn]] void ThrowDuplicate(const IndexTable& table, size_t rank, uint64_t first,
                                 uint64_t second, IndexView coordinates) {
  ThrowInvalidDescriptor(StrCat(table.Name(), ", position ", second * rank, ": entry ", second,
                                " has the coordinates ", JoinInBrackets(coordinates), " of entry ",
                                first, ", they must differ"));
}

// Sorts the entries by a copy: what lies in the buffer may change meanwhile.
void CheckNoDuplicates(const IndexTable& table, uint64_t nnz, size_t rank) {
  std::vector<uint64_t> copy(static_cast<size_t>(nnz) * rank);
  for (size_t i = 0; i < copy.size(); ++i) copy[i] = table[i];
  auto entry = [&](uint64_t i) {
    return IndexView(copy).subspan(static_cast<size_t>(i) * rank, rank);
  };
  std::vector<uint64_t> order(static_cast<size_t>(nnz));
  std::iota(order.begin(), order.end(), uint64_t{0});
  std::sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) {
    IndexView left = entry(a), right = entry(b);
    for (size_t d = 0; d < rank; ++d) {
      if (left[d] != right[d]) return left[d] < right[d];
    }
    return a < b;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    IndexView left = entry(order[i - 1]), right = entry(order[i]);
    if (std::equal(left.begin(), left.end(), right.begin())) {
      ThrowDuplicate(table, rank, order[i - 1], order[i], right);
    }
  }
}

}  // namespace

CooLayout CooLayout::Decode(ByteReader& in, size_t) {
  uint64_t nnz = in.ReadU64("nnz");
  uint8_t sorted = in.ReadU8("is_sorted");
  if (sorted > 1) {
    ThrowInvalidDescriptor(StrCat("layout coo: is_sorted is ", sorted, ", it must be 0 or 1"));
  }
  in.ReadReserved(7, "layout coo");
  return {nnz, sorted == 1};
}

void CooLayout::Encode(ByteWriter& out) const noexcept {
  out.WriteU64(nnz);
  out.WriteU8(is_sorted ? 1 : 0);
  out.WriteZeros(7);
}

MinimumSize CooLayout::MinimumSizeOf(size_t index, const Geometry& geometry) const {
  if (index == 0) return MinimumSize::FromChecked(geometry.packing.SizeBytes(nnz));
  return MinimumSize::FromChecked(
      CheckedMul(CheckedMul(nnz, uint64_t{8}), std::optional(uint64_t{geometry.shape.size()})));
}

std::optional<int64_t> CooLayout::ElementOffset(ShapeView, IndexView index,
                                                BufferSpans buffers) const {
  IndexTable table = Coordinates(nnz, index.size(), buffers);
  if (!is_sorted) {
    for (uint64_t entry = 0; entry < nnz; ++entry) {
      if (CompareEntry(table, entry, index) == 0) return static_cast<int64_t>(entry);
    }
    return std::nullopt;
  }
  uint64_t first = 0, last = nnz;
  while (first < last) {
    uint64_t middle = first + (last - first) / 2;
    auto order = CompareEntry(table, middle, index);
    if (order == 0) return static_cast<int64_t>(middle);
    if (order < 0) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return std::nullopt;
}

void CooLayout::CheckContents(const Geometry& geometry, BufferSpans buffers) const {
  size_t rank = geometry.shape.size();
  IndexTable table = Coordinates(nnz, rank, buffers);
  Shape previous(rank), current(rank);
  bool ascending = true;
  for (uint64_t entry = 0; entry < nnz; ++entry) {
    auto order = std::strong_ordering::equal;
    for (size_t d = 0; d < rank; ++d) {
      current[d] = table[entry * rank + d];
      if (current[d] >= geometry.shape[d]) {
        table.Throw(entry * rank + d, current[d],
                    StrCat("below ", geometry.shape[d], ", the extent of dimension ", d));
      }
      if (order == 0) order = previous[d] <=> current[d];
    }
    if (entry > 0 && order >= 0) {
      if (order == 0) {
        ThrowDuplicate(table, rank, entry - 1, entry, {current.data(), rank});
      }
      if (is_sorted) {
        ThrowInvalidDescriptor(
            StrCat(table.Name(), ", position ", entry * rank, ": the coordinates ",
                   JoinInBrackets(ShapeView(current.data(), rank)), " of entry ", entry,
                   " must follow those of its predecessor, ",
                   JoinInBrackets(ShapeView(previous.data(), rank)), ", because is_sorted is set"));
      }
      ascending = false;
    }
    previous = current;
  }
  if (!ascending) CheckNoDuplicates(table, nnz, rank);
}

}  // namespace hurray
