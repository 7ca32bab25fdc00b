#include "python/copies.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "python/gil.h"
#include "storage/copy_elements.h"

namespace hurray {

namespace {

// Memory is really aligned up to here, however much a descriptor declares.
constexpr size_t kLargestAlignment = size_t{2} << 20;

}  // namespace

Buffer CopyBytes(std::span<const uint8_t> bytes, size_t alignment) {
  Buffer copy = Buffer::Allocate(bytes.size(), alignment);
  if (!bytes.empty()) {
    WithoutGilIfLarge(bytes.size(), [&] { std::memcpy(copy.data(), bytes.data(), bytes.size()); });
  }
  return copy;
}

size_t ReachableAlignment(const BufferHandle& handle) noexcept {
  return std::min<size_t>(handle.alignment, kLargestAlignment);
}

TensorBuffers CopyBuffers(const TensorObject& tensor) {
  TensorBuffers copies;
  for (size_t i = 0; i < tensor.buffers.size(); ++i) {
    const BufferHandle& handle = tensor.descriptor.buffers()[i];
    copies.Add(CopyBytes(tensor.buffers[i].bytes().first(static_cast<size_t>(handle.byte_size)),
                         ReachableAlignment(handle)));
  }
  return copies;
}

Ref CopyForExport(PyObject* self) {
  TensorObject* tensor = TensorOf(self);
  const TensorDescriptor& descriptor = tensor->descriptor;
  Buffer copy = CopyBytes(tensor->buffers[0].bytes());
  TensorDescriptor same(descriptor.dtype(), Shape(descriptor.shape()), descriptor.layout(),
                        BufferTable{BufferHandle::Of(copy.size(), descriptor.device())},
                        descriptor.byte_offset());
  return NewTensor(StateOf(Py_TYPE(self)), std::move(same), std::move(copy), tensor->device);
}

Ref RowMajorCopy(PyObject* self) {
  TensorObject* tensor = TensorOf(self);
  const TensorDescriptor& descriptor = tensor->descriptor;
  size_t width = descriptor.packing().group_bytes;
  auto bytes = AddressableBytes(descriptor.shape(), width);
  if (!bytes) throw std::bad_alloc();
  auto size = static_cast<size_t>(*bytes);
  Exports* exports = ExportsOf(tensor);
  Buffer copy = Buffer::Allocate(size);
  const uint8_t* first = tensor->buffers[0].data() + descriptor.byte_offset();
  WithoutGilIfLarge(size, [&] {
    GatherElements(first, descriptor.shape(), {exports->byte_strides.data(), descriptor.rank()},
                   width, copy.data());
  });
  return NewTensor(
      StateOf(Py_TYPE(self)),
      DenseDescriptor(descriptor.dtype(), Shape(descriptor.shape()), size, descriptor.device()),
      std::move(copy), tensor->device);
}

void UnpackBoolsTo(TensorObject& tensor, uint8_t* out) {
  const TensorDescriptor& descriptor = tensor.descriptor;
  auto count = static_cast<size_t>(AddressableBytes(descriptor.shape(), 1).value());
  if (count == 0) return;
  const uint8_t* first = tensor.buffers[0].data() + descriptor.byte_offset();
  Exports* exports = ExportsOf(&tensor);
  WithoutGilIfLarge(count, [&] {
    if (std::holds_alternative<RowMajorLayout>(descriptor.layout())) {
      UnpackBools(first, count, out);
    } else {
      GatherBools(first, descriptor.shape(), {exports->element_strides.data(), descriptor.rank()},
                  out);
    }
  });
}

}  // namespace hurray
