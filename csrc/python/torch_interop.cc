#include "python/torch_interop.h"

#include <new>

#include "core/addressing.h"
#include "python/copies.h"
#include "python/dlpack.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/tensor.h"

namespace hurray {

const char kTensorToTorchDoc[] = R"(to_torch($self)
--

The tensor as a ``torch.Tensor``.

Returns
-------
torch.Tensor
    Sharing memory; a copy for bools, which are packed here, for read-only memory, which torch
    would let be written, and for negative strides, which torch does not have.

Raises
------
ImportError
    If PyTorch is not installed.
builtins.BufferError, UnsupportedError
    As `__dlpack__`.

Notes
-----
Format: section 5, "Layouts".

Examples
--------
>>> hurray.ones([2]).to_torch()  # doctest: +SKIP
tensor([1., 1.], dtype=torch.float64)
)";

namespace {

// A C-ordered uint8 tensor holding one byte per bool.
Ref UnpackToBytes(PyObject* self) {
  TensorObject* tensor = TensorOf(self);
  Shape shape(tensor->descriptor.shape());
  auto count = AddressableBytes(tensor->descriptor.shape(), 1);
  if (!count) throw std::bad_alloc();
  auto size = static_cast<size_t>(*count);
  Buffer bytes = Buffer::Allocate(size);
  UnpackBoolsTo(*tensor, bytes.data());
  return NewTensor(StateOf(Py_TYPE(self)),
                   DenseDescriptor(ElementTypes::kUint8, std::move(shape), size), std::move(bytes),
                   tensor->device);
}

bool HasNegativeStride(PyObject* self) {
  const auto* strided = std::get_if<StridedLayout>(&TensorOf(self)->descriptor.layout());
  if (strided == nullptr) return false;
  for (int64_t stride : strided->strides) {
    if (stride < 0) return true;
  }
  return false;
}

void CheckBoolExportable(PyObject* self) {
  const TensorDescriptor& descriptor = TensorOf(self)->descriptor;
  CheckSynced(descriptor, ErrorCode::kNotExportable);
  if (!HasStrides(descriptor.layout()) || !descriptor.device().is_cpu() ||
      HasDynamicExtent(descriptor.shape())) {
    throw Error(ErrorCode::kNotExportable,
                StrCat("a bool tensor of layout ", LayoutName(descriptor.layout()), ", shape ",
                       ShapeText(descriptor.shape()), " and device kind ",
                       *DeviceKindName(descriptor.device().tag),
                       " cannot be unpacked: strides, a static shape and the CPU are needed"));
  }
}

// What is handed to torch: the tensor itself or a copy that torch can hold.
Ref Presentable(PyObject* self) {
  if (TensorOf(self)->descriptor.dtype() == ElementTypes::kBool) {
    CheckBoolExportable(self);
    return UnpackToBytes(self);
  }
  DlTensorOf(self);  // throws for what cannot be handed out
  if (HasNegativeStride(self)) return RowMajorCopy(self);
  return IsWritable(*TensorOf(self)) ? Ref::Borrow(self) : CopyForExport(self);
}

}  // namespace

Ref RequireTorch() {
  Ref name = Ref::Steal(PyUnicode_InternFromString("torch"));
  Ref loaded = Ref::StealOrNull(PyImport_GetModule(name.get()));
  // None stands for a module that must not be imported.
  if (loaded && loaded.get() != Py_None) return loaded;
  if (PyErr_Occurred() != nullptr) throw PythonError();
  return Ref::Steal(PyImport_ImportModule("torch"));
}

PyObject* Tensor_to_torch(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    ModuleState& state = StateOf(Py_TYPE(self));
    Ref torch = RequireTorch();
    Ref source = Presentable(self);
    DLManagedTensorVersioned* managed = ExportManaged(source.get(), 0);
    bool unpacked = TensorOf(self)->descriptor.dtype() == ElementTypes::kBool;
    if (unpacked) managed->dl_tensor.dtype = {kDLBool, 8, 1};
    Ref type = Ref::StealOrNull(PyObject_GetAttrString(torch.get(), "Tensor"));
    const DLPackExchangeAPI* api = type ? ExchangeApiOf(state, AsType(type.get())) : nullptr;
    if (api != nullptr) {
      void* made = nullptr;
      if (api->managed_tensor_to_py_object_no_sync(managed, &made) != 0) throw PythonError();
      return Ref::Steal(static_cast<PyObject*>(made)).release();
    }
    // torch before 2.10.
    PyErr_Clear();
    Ref capsule = WrapManaged(managed);
    return Ref::Steal(PyObject_CallMethod(torch.get(), "from_dlpack", "O", capsule.get()))
        .release();
  });
}

}  // namespace hurray
