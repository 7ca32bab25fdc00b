// Are the contents of the buffers sane? Run on demand only. Format: rules of level D.
#pragma once

#include "core/descriptor.h"

namespace hurray {

// Checks the rules of level D (index buffers, scales) and the rules that readers skip
// (format section 12.1): storage types, axes, parameter buffer sizes, statistics against the
// payload. Throws kInvalidDescriptor naming buffer, position, value and rule. Surplus buffers and
// opaque layouts are no faults.
// REQUIRES: the descriptor was validated and the buffers are as long as it declares.
void CheckContents(const TensorDescriptor& descriptor, BufferSpans buffers);

}  // namespace hurray
