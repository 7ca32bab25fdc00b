// Do these buffers satisfy this descriptor? Format: sections 5.0, 6.2, 7.
#pragma once

#include <span>

#include "core/descriptor.h"

namespace hurray {

// Checks, in this order: the layout against the shape; the number of buffers; the size each
// declares; where quantization parameters lie; the shard. Throws kInvalidDescriptor, except for
// a buffer that is too small, which is `size_error`.
void CheckRequirements(const TensorDescriptor& descriptor, ErrorCode size_error);

// Throws kBuffer if there are not as many buffers as the table has rows, or one is smaller than
// its row declares. `sizes` in bytes.
void CheckSuppliedSizes(const TensorDescriptor& descriptor, std::span<const uint64_t> sizes);

}  // namespace hurray
