#include "core/addressing.h"

#include "core/str_cat.h"

namespace hurray {

std::optional<int64_t> ElementOffset(const TensorDescriptor& descriptor, IndexView index,
                                     BufferSpans buffers) {
  ShapeView shape = descriptor.shape();
  if (HasDynamicExtent(shape)) {
    throw Error(ErrorCode::kUnsupported,
                StrCat("the shape ", ShapeText(shape),
                       " has a dynamic dimension, so its elements have no offsets"));
  }
  for (size_t k = 0; k < shape.size(); ++k) {
    if (index[k] >= shape[k]) {
      throw Error(ErrorCode::kOutOfRange, StrCat("index ", index[k],
                                                 " is out of range for "
                                                 "dimension ",
                                                 k, " with size ", shape[k]));
    }
  }
  return std::visit([&](const auto& kind) { return kind.ElementOffset(shape, index, buffers); },
                    descriptor.layout());
}

bool FillElementStrides(const TensorDescriptor& descriptor, std::span<int64_t> strides) noexcept {
  ShapeView shape = descriptor.shape();
  const Layout& layout = descriptor.layout();
  // Wraps where a tensor without elements has extents whose product exceeds 64 bits; nothing is
  // ever addressed through such strides.
  uint64_t step = 1;
  if (std::holds_alternative<RowMajorLayout>(layout)) {
    for (size_t k = shape.size(); k-- > 0; step *= shape[k]) {
      strides[k] = static_cast<int64_t>(step);
    }
    return true;
  }
  if (std::holds_alternative<ColMajorLayout>(layout)) {
    for (size_t k = 0; k < shape.size(); step *= shape[k++]) {
      strides[k] = static_cast<int64_t>(step);
    }
    return true;
  }
  if (const auto* strided = std::get_if<StridedLayout>(&layout)) {
    std::copy(strided->strides.begin(), strided->strides.end(), strides.begin());
    return true;
  }
  return false;
}

}  // namespace hurray
