// Tensors that share another tensor's memory: components, single buffers, the transpose.

#include <algorithm>

#include "core/layout.h"
#include "python/arguments.h"
#include "python/errors.h"
#include "python/tensor.h"

namespace hurray {

const char kTensorBufferDoc[] = R"(buffer($self, index)
--

One of the tensor's buffers as bytes.

Parameters
----------
index : int
    Row of the buffer table.

Returns
-------
Tensor
    uint8, row-major, of shape ``(byte_size,)``, sharing memory and keeping this tensor alive.

Raises
------
IndexError
    If there is no such buffer.
OverflowError
    If `index` is negative.
UnsupportedError
    If the bytes may not be read yet (another sync mode than ``'producer_synced'``).

Notes
-----
Format: section 4, "Buffer handle".

Examples
--------
>>> hurray.Tensor(bytes(16), hurray.float32, [4]).buffer(0).shape
(16,)
)";

namespace {

// A row-major view of `size` bytes at the front of one of the parent's buffers. The parent is
// what keeps the memory alive.
Ref MakeView(PyObject* parent, size_t buffer, ElementType dtype, Shape shape, uint64_t size,
             std::shared_ptr<const DescriptorSections> sections = nullptr) {
  TensorObject* tensor = TensorOf(parent);
  CheckSynced(tensor->descriptor, ErrorCode::kUnsupported);
  const Buffer& memory = tensor->buffers[buffer];
  Buffer borrowed =
      BorrowedBuffer(memory.data(), static_cast<size_t>(size), memory.writable(), parent);
  return NewTensor(StateOf(Py_TYPE(parent)),
                   DenseDescriptor(dtype, std::move(shape), size, tensor->descriptor.device(),
                                   std::move(sections)),
                   std::move(borrowed), tensor->device);
}

// The layout of a sparse tensor, or AttributeError naming the accessor and the layout.
template <typename... Kinds>
const Layout& RequireLayout(PyObject* self, const char* name) {
  const Layout& layout = TensorOf(self)->descriptor.layout();
  if ((std::holds_alternative<Kinds>(layout) || ...)) return layout;
  ThrowPython(PyExc_AttributeError, StrCat("'Tensor' object has no attribute '", name,
                                           "': its layout is ", LayoutName(layout)));
}

uint64_t NnzOf(const Layout& layout) {
  return std::visit(
      [](const auto& kind) -> uint64_t {
        if constexpr (requires { kind.nnz; }) {
          return kind.nnz;
        } else {
          return 0;  // unreachable: asked of sparse layouts only
        }
      },
      layout);
}

// A uint64 component: its size was checked against nnz and shape when the tensor was built.
Ref IndexComponent(PyObject* self, size_t buffer, Shape shape) {
  uint64_t count = ElementCount({shape.data(), shape.size()}).value();
  return MakeView(self, buffer, ElementTypes::kUint64, std::move(shape), count * 8);
}

// Length of the pointer buffer over dimension `major`; from the buffer where that is dynamic.
uint64_t PointerCount(PyObject* self, size_t major) {
  const TensorDescriptor& descriptor = TensorOf(self)->descriptor;
  uint64_t extent = descriptor.shape()[major];
  return extent == kDynamicExtent ? descriptor.buffers()[2].byte_size / 8 : extent + 1;
}

}  // namespace

Ref ViewOfBuffer(PyObject* tensor, uint64_t index) {
  auto handles = TensorOf(tensor)->descriptor.buffers();
  if (index >= handles.size()) {
    throw Error(ErrorCode::kOutOfRange, StrCat("index ", index, " is out of range, there are ",
                                               handles.size(), " buffers"));
  }
  uint64_t size = handles[static_cast<size_t>(index)].byte_size;
  return MakeView(tensor, static_cast<size_t>(index), ElementTypes::kUint8, Shape{size}, size);
}

PyObject* Tensor_buffer(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                        PyObject* kwnames) {
  static constexpr Signature kBuffer("buffer", {"index"});
  return Guard(Py_TYPE(self), [&] {
    PyObject* index = kBuffer.Bind(args, nargs, kwnames)[0];
    return ViewOfBuffer(self, ToInteger<uint64_t>(index, "index")).release();
  });
}

PyObject* Tensor_nnz(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    return ToPython(NnzOf(RequireLayout<CooLayout, CsrLayout, CscLayout>(self, "nnz"))).release();
  });
}

PyObject* Tensor_values(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    uint64_t nnz = NnzOf(RequireLayout<CooLayout, CsrLayout, CscLayout>(self, "values"));
    const TensorDescriptor& descriptor = TensorOf(self)->descriptor;
    std::shared_ptr<const DescriptorSections> sections;
    if (descriptor.extension_type() != nullptr) {
      DescriptorSections only_type;
      only_type.extension_type = *descriptor.extension_type();
      sections = std::make_shared<const DescriptorSections>(std::move(only_type));
    }
    uint64_t size = descriptor.packing().SizeBytes(nnz).value();
    return MakeView(self, 0, descriptor.dtype(), Shape{nnz}, size, std::move(sections)).release();
  });
}

PyObject* Tensor_indices(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    uint64_t nnz = NnzOf(RequireLayout<CooLayout>(self, "indices"));
    return IndexComponent(self, 1, Shape{nnz, TensorOf(self)->descriptor.rank()}).release();
  });
}

PyObject* Tensor_col_indices(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    return IndexComponent(self, 1, Shape{NnzOf(RequireLayout<CsrLayout>(self, "col_indices"))})
        .release();
  });
}

PyObject* Tensor_row_ptr(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    RequireLayout<CsrLayout>(self, "row_ptr");
    return IndexComponent(self, 2, Shape{PointerCount(self, 0)}).release();
  });
}

PyObject* Tensor_row_indices(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    return IndexComponent(self, 1, Shape{NnzOf(RequireLayout<CscLayout>(self, "row_indices"))})
        .release();
  });
}

PyObject* Tensor_col_ptr(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    RequireLayout<CscLayout>(self, "col_ptr");
    return IndexComponent(self, 2, Shape{PointerCount(self, 1)}).release();
  });
}

// ---- the transpose

namespace {

Layout TransposedLayout(const Layout& layout) {
  if (std::holds_alternative<RowMajorLayout>(layout)) return ColMajorLayout{};
  if (std::holds_alternative<ColMajorLayout>(layout)) return RowMajorLayout{};
  if (const auto* csr = std::get_if<CsrLayout>(&layout)) return CscLayout{csr->nnz};
  if (const auto* csc = std::get_if<CscLayout>(&layout)) return CsrLayout{csc->nnz};
  if (const auto* strided = std::get_if<StridedLayout>(&layout)) {
    StridedLayout reversed = *strided;
    std::reverse(reversed.strides.begin(), reversed.strides.end());
    return reversed;
  }
  throw Error(ErrorCode::kUnsupported,
              StrCat("T: layout ", LayoutName(layout), " has no transposed view"));
}

}  // namespace

PyObject* Tensor_T(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    TensorObject* tensor = TensorOf(self);
    const TensorDescriptor& descriptor = tensor->descriptor;
    CheckSynced(descriptor, ErrorCode::kUnsupported);
    if (descriptor.rank() != 2) {
      ThrowValueError(StrCat("T needs a tensor of rank 2, this one has rank ", descriptor.rank()));
    }
    Layout layout = TransposedLayout(descriptor.layout());
    if (descriptor.quantization() != nullptr || descriptor.shard() != nullptr) {
      throw Error(ErrorCode::kUnsupported,
                  StrCat("T: a ", descriptor.shard() != nullptr ? "sharded" : "quantized",
                         " tensor has no transposed view"));
    }
    Shape shape(descriptor.shape());
    std::reverse(shape.begin(), shape.end());
    std::shared_ptr<const DescriptorSections> sections;
    if (descriptor.extension_type() != nullptr) {
      DescriptorSections kept;
      kept.extension_type = *descriptor.extension_type();
      sections = std::make_shared<const DescriptorSections>(std::move(kept));
    }
    TensorBuffers buffers;
    for (size_t i = 0; i < tensor->buffers.size(); ++i) {
      const Buffer& memory = tensor->buffers[i];
      buffers.Add(BorrowedBuffer(memory.data(), memory.size(), memory.writable(), self));
    }
    TensorDescriptor transposed(descriptor.dtype(), std::move(shape), std::move(layout),
                                BufferTable(descriptor.buffers()), descriptor.byte_offset(),
                                std::move(sections));
    return NewTensor(StateOf(Py_TYPE(self)), std::move(transposed), std::move(buffers),
                     tensor->device)
        .release();
  });
}

}  // namespace hurray
