// Where the element with a given logical index is. Format: section 5.
#pragma once

#include <cstdint>
#include <optional>

#include "core/descriptor.h"

namespace hurray {

// The linear element offset in buffer 0, counted from byte_offset; nullopt for a coordinate that
// a sparse layout does not store. Throws kOutOfRange for an index outside the shape, kUnsupported
// for a dynamic shape or a layout that defines none, kInvalidDescriptor for index buffers that
// contradict themselves.
// REQUIRES: index.size() == descriptor.rank(), the descriptor was validated, and the buffers are
// at least as long as it declares.
std::optional<int64_t> ElementOffset(const TensorDescriptor& descriptor, IndexView index,
                                     BufferSpans buffers);

// Strides of a dense row-major, column-major or strided tensor, in elements. Dimensions of a
// tensor without elements get the strides of their order all the same.
// REQUIRES: no dynamic extent, strides.size() == rank. Returns false for every other layout.
bool FillElementStrides(const TensorDescriptor& descriptor, std::span<int64_t> strides) noexcept;

}  // namespace hurray
