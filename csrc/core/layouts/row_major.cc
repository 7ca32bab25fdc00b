#include "core/layouts/row_major.h"

namespace hurray {

std::optional<int64_t> RowMajorLayout::ElementOffset(ShapeView shape, IndexView index,
                                                     BufferSpans) {
  return static_cast<int64_t>(RowMajorOffset(shape, index));
}

uint64_t RowMajorOffset(ShapeView extents, IndexView index) noexcept {
  uint64_t offset = 0;
  for (size_t k = 0; k < extents.size(); ++k) offset = offset * extents[k] + index[k];
  return offset;
}

uint64_t ColMajorOffset(ShapeView extents, IndexView index) noexcept {
  uint64_t offset = 0;
  for (size_t k = extents.size(); k-- > 0;) offset = offset * extents[k] + index[k];
  return offset;
}

}  // namespace hurray
