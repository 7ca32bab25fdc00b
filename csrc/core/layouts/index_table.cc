#include "core/layouts/index_table.h"

namespace hurray {

IndexTable::IndexTable(BufferSpans buffers, size_t buffer, std::string_view layout,
                       std::string_view role, uint64_t length, size_t width)
    : length_(length), width_(width), buffer_(buffer), layout_(layout), role_(role) {
  uint64_t room = buffer < buffers.size() ? buffers[buffer].size() / width : 0;
  if (length > room) {
    ThrowInvalidDescriptor(
        StrCat(Name(), " has room for ", room, " numbers, ", length, " are needed"));
  }
  data_ = buffer < buffers.size() ? buffers[buffer].data() : nullptr;
}

IndexTable IndexTable::Whole(BufferSpans buffers, size_t buffer, std::string_view layout,
                             std::string_view role) {
  uint64_t length = buffer < buffers.size() ? buffers[buffer].size() / 8 : 0;
  return IndexTable(buffers, buffer, layout, role, length);
}

std::optional<uint64_t> IndexTable::Find(uint64_t value, uint64_t first,
                                         uint64_t last) const noexcept {
  while (first < last) {
    uint64_t middle = first + (last - first) / 2;
    uint64_t found = (*this)[middle];
    if (found == value) return middle;
    if (found < value) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return std::nullopt;
}

void IndexTable::Throw(uint64_t position, uint64_t value, std::string_view rule) const {
  ThrowInvalidDescriptor(StrCat(Name(), ", position ", position, ": ", value, " must be ", rule));
}

std::string IndexTable::Name() const {
  return StrCat("buffer ", buffer_, " (", role_, " of layout ", layout_, ")");
}

Slice SliceOf(const IndexTable& pointers, const IndexTable& indices, uint64_t slot) {
  uint64_t first = pointers[slot];
  uint64_t last = pointers[slot + 1];
  if (last > indices.size()) {
    pointers.Throw(slot + 1, last,
                   StrCat("at most ", indices.size(), ", the entries of ", indices.Name()));
  }
  if (first > last) pointers.Throw(slot, first, StrCat("at most its successor, ", last));
  return {first, last};
}

uint64_t CheckCompressedLevel(const IndexTable& pointers, const IndexTable& indices,
                              uint64_t extent, size_t dimension) {
  uint64_t first = pointers[0];
  if (first != 0) pointers.Throw(0, first, "0");
  for (uint64_t slot = 1; slot < pointers.size(); ++slot) {
    uint64_t last = pointers[slot];
    if (last < first) pointers.Throw(slot, last, StrCat("at least its predecessor, ", first));
    if (last > indices.size()) {
      pointers.Throw(slot, last,
                     StrCat("at most ", indices.size(), ", the entries of ", indices.Name()));
    }
    uint64_t previous = 0;
    for (uint64_t i = first; i < last; ++i) {
      uint64_t index = indices[i];
      if (index >= extent) {
        indices.Throw(i, index, StrCat("below ", extent, ", the extent of dimension ", dimension));
      }
      if (i > first && index <= previous) {
        indices.Throw(i, index, StrCat("greater than its predecessor in the slice, ", previous));
      }
      previous = index;
    }
    first = last;
  }
  return first;
}

}  // namespace hurray
