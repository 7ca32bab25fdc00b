#include "core/layouts/layout_kind.h"

namespace hurray {

MinimumSize SpanMinimum(const Geometry& geometry, __int128 low, __int128 high) {
  Packing::ByteRange range = geometry.packing.BytesOf(low, high);
  __int128 offset = geometry.byte_offset;
  if (range.first + offset < 0) {
    return MinimumSize::Hopeless("a set of strides reaches below the start of the buffer");
  }
  __int128 bytes = range.last + offset;
  if (bytes > __int128{UINT64_MAX}) {
    return MinimumSize::Hopeless("the bytes it needs exceed 64 bits");
  }
  return MinimumSize::Bytes(static_cast<uint64_t>(bytes));
}

void CheckRank(std::string_view layout, ShapeView shape, size_t least, bool exact) {
  if (exact ? shape.size() != least : shape.size() < least) {
    ThrowInvalidDescriptor(StrCat("layout ", layout, " needs rank ", least, exact ? "" : " or more",
                                  ", the shape ", ShapeText(shape), " has rank ", shape.size()));
  }
}

}  // namespace hurray
