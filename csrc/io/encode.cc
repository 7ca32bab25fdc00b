#include "io/encode.h"

#include <vector>

#include "core/requirements.h"

namespace hurray {

void CheckBuffers(const TensorData& tensor) {
  std::vector<uint64_t> sizes;
  sizes.reserve(tensor.buffers.size());
  for (const Buffer& buffer : tensor.buffers) sizes.push_back(buffer.size());
  CheckSuppliedSizes(tensor.descriptor, sizes);
}

void WriteDescriptor(const TensorDescriptor& descriptor, GatherWriter& out) {
  size_t size = descriptor.encoded_size();
  if (size <= GatherWriter::kMostScratch) {
    descriptor.EncodeTo(out.Scratch(size));
  } else {
    std::vector<uint8_t> bytes = descriptor.Encode();
    out.Write(bytes);
    out.Flush();  // while they are there
  }
}

}  // namespace hurray
