// What files and streams have in common when they are written.
#pragma once

#include "io/gather_writer.h"
#include "io/item.h"

namespace hurray {

// Throws kBuffer unless there is one buffer per row of the table, of at least the declared size.
void CheckBuffers(const TensorData& tensor);

void WriteDescriptor(const TensorDescriptor& descriptor, GatherWriter& out);

}  // namespace hurray
