// hurray.Tensor: a descriptor and the buffers that it describes.
#pragma once

#include <Python.h>
#include <dlpack/dlpack.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/descriptor.h"
#include "python/gil.h"
#include "python/module_state.h"
#include "python/ref.h"
#include "storage/buffer.h"

namespace hurray {

// A tensor's buffers in table order. Nearly always there is one, which needs no allocation.
class TensorBuffers {
 public:
  TensorBuffers() noexcept = default;
  TensorBuffers(Buffer first) noexcept : first_(std::move(first)), size_(1) {}
  void Add(Buffer buffer) {
    if (size_ == 0) {
      first_ = std::move(buffer);
    } else {
      rest_.push_back(std::move(buffer));
    }
    ++size_;
  }
  size_t size() const noexcept { return size_; }
  Buffer& operator[](size_t i) noexcept { return i == 0 ? first_ : rest_[i - 1]; }
  const Buffer& operator[](size_t i) const noexcept { return i == 0 ? first_ : rest_[i - 1]; }

 private:
  Buffer first_;
  std::vector<Buffer> rest_;
  size_t size_ = 0;
};

// What exports need and the descriptor does not keep.
struct Exports {
  Strides element_strides;
  SmallVector<Py_ssize_t, 8> byte_strides;
  // The tensor as DLPack has it, once it is known that it may be handed out. Points into the
  // tensor.
  std::optional<DLTensor> dlpack;
  // For one consumer at a time, which need not allocate its own.
  DLManagedTensorVersioned managed;
  bool managed_is_used = false;
};

struct TensorObject {
  PyObject_HEAD
  PyObject* weakrefs;
  PyObject* dtype;
  PyObject* device;
  PyObject* ndim;                    // borrowed: the interpreter keeps its small integers
  PyObject* shape;                   // tuple, made on first access
  PyObject* descriptor_view;         // Descriptor, made on first access
  std::unique_ptr<Exports> exports;  // made on the first export
  TensorDescriptor descriptor;
  TensorBuffers buffers;
};

int AddTensor(PyObject* module, ModuleState& state);

// A tensor of parts that go together: the descriptor was validated, and the buffers are as long
// as it declares. `device` is the Device object that it shows.
Ref NewTensor(ModuleState& state, TensorDescriptor descriptor, TensorBuffers buffers,
              PyObject* device);
// The same with the device object that the descriptor names.
Ref NewTensor(ModuleState& state, TensorDescriptor descriptor, TensorBuffers buffers);
// The same for a row-major one on the CPU whose only buffer has just the bytes of its elements.
Ref NewDenseTensor(ModuleState& state, ElementType dtype, ShapeView shape, Buffer buffer);

// The type's tp_dealloc. Where there is no module state at hand, it tells a Tensor by its type.
void Tensor_dealloc(PyObject* self);

inline bool IsTensor(const ModuleState& state, PyObject* object) noexcept {
  return Py_TYPE(object) == AsType(state.tensor_type);
}
inline TensorObject* TensorOf(PyObject* tensor) noexcept {
  return reinterpret_cast<TensorObject*>(tensor);
}

// The contents of all buffers, for the core.
std::vector<std::span<const uint8_t>> SpansOf(const TensorObject& tensor);
// Every buffer may be written to.
inline bool IsWritable(const TensorObject& tensor) noexcept {
  for (size_t i = 0; i < tensor.buffers.size(); ++i) {
    if (!tensor.buffers[i].writable()) return false;
  }
  return true;
}
// The tuple that Tensor.shape gives, borrowed.
PyObject* ShapeTupleOf(TensorObject* tensor);

// Throws `code` naming the mode if the bytes may not be touched at once.
void CheckSynced(const TensorDescriptor& descriptor, ErrorCode code);

// Row-major descriptor on the CPU with one buffer of `byte_size` bytes.
TensorDescriptor DenseDescriptor(ElementType dtype, Shape shape, uint64_t byte_size,
                                 Device device = {},
                                 std::shared_ptr<const DescriptorSections> sections = nullptr);

// ---- views.cc: tensors that share another one's memory

// A buffer's declared bytes, as uint8. Throws kOutOfRange.
Ref ViewOfBuffer(PyObject* tensor, uint64_t index);
PyObject* Tensor_buffer(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* Tensor_T(PyObject* self, void*);
PyObject* Tensor_nnz(PyObject* self, void*);
PyObject* Tensor_values(PyObject* self, void*);
PyObject* Tensor_indices(PyObject* self, void*);
PyObject* Tensor_col_indices(PyObject* self, void*);
PyObject* Tensor_row_ptr(PyObject* self, void*);
PyObject* Tensor_row_indices(PyObject* self, void*);
PyObject* Tensor_col_ptr(PyObject* self, void*);

// ---- buffer_protocol.cc

int Tensor_getbuffer(PyObject* self, Py_buffer* view, int flags);

// With element and byte strides; null for layouts that have none. REQUIRES: no dynamic extent.
Exports* ExportsOf(TensorObject* tensor);

// ---- array_interop.cc

PyObject* Tensor_array(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* Tensor_numpy(PyObject* self, PyObject*);
extern const char kTensorArrayDoc[];
extern const char kTensorNumpyDoc[];
extern const char kTensorBufferDoc[];

// ---- display.cc

PyObject* Tensor_repr(PyObject* self);
PyObject* Tensor_str(PyObject* self);

}  // namespace hurray
