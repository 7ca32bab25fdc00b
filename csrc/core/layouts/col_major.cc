#include "core/layouts/col_major.h"

#include "core/layouts/row_major.h"

namespace hurray {

MinimumSize ColMajorLayout::MinimumSizeOf(size_t index, const Geometry& geometry) {
  return RowMajorLayout::MinimumSizeOf(index, geometry);  // the same elements in another order
}

std::optional<int64_t> ColMajorLayout::ElementOffset(ShapeView shape, IndexView index,
                                                     BufferSpans) {
  return static_cast<int64_t>(ColMajorOffset(shape, index));
}

}  // namespace hurray
