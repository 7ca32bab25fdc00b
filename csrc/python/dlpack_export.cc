// Tensors handed out through DLPack: `__dlpack__` and what the exchange API needs.

#include <cstdlib>
#include <cstring>
#include <new>

#include "core/addressing.h"
#include "python/arguments.h"
#include "python/copies.h"
#include "python/dlpack.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/tensor.h"

namespace hurray {

const char kTensorDlpackDoc[] =
    R"(__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)
--

The tensor as a DLPack capsule.

Parameters
----------
stream : optional
    Ignored: the memory is the CPU's.
max_version : tuple of int, optional
    Highest version (major, minor) that the consumer reads. Without it, or with major 0, the
    capsule is of the older kind, which has no version and no flags.
dl_device : tuple of int, optional
    Device type and id that the consumer wants; only the tensor's own can be had.
copy : bool, optional
    True exports a private copy; None and False share the memory.

Returns
-------
capsule
    ``"dltensor_versioned"`` or ``"dltensor"``; it keeps the tensor alive.

Raises
------
builtins.BufferError
    If the layout, element type, shape, device or sync mode cannot be expressed, or read-only
    memory would go into a capsule without flags.
UnsupportedError
    For a device that DLPack does not know, and dense layouts that strides cannot express.
TypeError
    If an argument is of the wrong kind.

Notes
-----
Format: section 5, "Layouts".

Examples
--------
>>> import numpy as np
>>> np.from_dlpack(hurray.ones([2]))
array([1., 1.])
)";

const char kTensorDlpackDeviceDoc[] = R"(__dlpack_device__($self)
--

The device as DLPack names it.

Returns
-------
tuple of int
    Device type and id; ``(1, 0)`` for the CPU.

Raises
------
UnsupportedError
    If DLPack has no type for the device.

Notes
-----
Format: section 4, "Buffer handle".

Examples
--------
>>> hurray.ones([2]).__dlpack_device__()[0]
1
)";

namespace {

[[noreturn]] void Refuse(const std::string& reason) {
  throw Error(ErrorCode::kNotExportable, reason);
}

// ---- managed tensors, which hold a reference to the tensor

// In the tensor's own memory.
void DeleteInPlace(DLManagedTensorVersioned* self) noexcept {
  auto* tensor = static_cast<PyObject*>(self->manager_ctx);
  if (InterpreterIsGone()) return;
  WithGilFromAnyThread([&] {
    TensorOf(tensor)->exports->managed_is_used = false;
    Py_DECREF(tensor);
  });
}

void DeleteAllocated(DLManagedTensorVersioned* self) noexcept {
  DropFromAnyThread(static_cast<PyObject*>(self->manager_ctx));
  std::free(self);
}

void DeleteLegacy(DLManagedTensor* self) noexcept {
  DropFromAnyThread(static_cast<PyObject*>(self->manager_ctx));
  std::free(self);
}

template <typename Managed>
Managed* AllocateManaged() {
  auto* memory = static_cast<Managed*>(std::malloc(sizeof(Managed)));
  if (memory == nullptr) throw std::bad_alloc();
  return new (memory) Managed{};
}

// Whether nobody has consumed a capsule of ours: a consumer changes the name. The text is read only
// if it is not our own.
bool IsUnused(PyObject* capsule, const char* name) noexcept {
  const char* now = PyCapsule_GetName(capsule);
  return now == name || (now != nullptr && std::strcmp(now, name) == 0);
}

// Run the deleter of a capsule that nobody consumed. They have the lock, as all destructors of
// objects.
void DestroyVersionedCapsule(PyObject* capsule) noexcept {
  if (!IsUnused(capsule, kVersionedCapsule)) return;
  auto* managed =
      static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kVersionedCapsule));
  if (managed->deleter == DeleteInPlace) {
    auto* tensor = static_cast<PyObject*>(managed->manager_ctx);
    TensorOf(tensor)->exports->managed_is_used = false;
    Py_DECREF(tensor);
  } else {
    managed->deleter(managed);
  }
}

void DestroyLegacyCapsule(PyObject* capsule) noexcept {
  if (!IsUnused(capsule, kLegacyCapsule)) return;
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kLegacyCapsule));
  managed->deleter(managed);
}

bool IsVersioned(PyObject* max_version) {
  if (NoneToNull(max_version) == nullptr) return false;
  if (!PyTuple_Check(max_version) || PyTuple_GET_SIZE(max_version) != 2) {
    ThrowTypeError(
        StrCat("max_version must be a tuple of two integers, not ", TypeName(max_version)));
  }
  PyObject* major = PyTuple_GET_ITEM(max_version, 0);
  PyObject* minor = PyTuple_GET_ITEM(max_version, 1);
  if (!PyLong_CheckExact(minor)) ToInteger<int64_t>(minor, "max_version[1]");
  return (PyLong_CheckExact(major) && IsSmallPositive(major)) ||
         ToInteger<int64_t>(major, "max_version[0]") >= 1;
}

void CheckWantedDevice(PyObject* self, PyObject* wanted) {
  if (!PyTuple_Check(wanted) || PyTuple_GET_SIZE(wanted) != 2) {
    ThrowTypeError(StrCat("dl_device must be a tuple of two integers, not ", TypeName(wanted)));
  }
  auto type = ToInteger<int64_t>(PyTuple_GET_ITEM(wanted, 0), "dl_device[0]");
  auto id = ToInteger<int64_t>(PyTuple_GET_ITEM(wanted, 1), "dl_device[1]");
  int32_t own_type = DlpackDeviceType(TensorOf(self)->descriptor.device());
  if (type != own_type || id != 0) {
    Refuse(StrCat("dl_device is (", type, ", ", id, "), the tensor is on (", own_type,
                  ", 0) and cannot be copied to another device"));
  }
}

}  // namespace

namespace {

void CheckExportable(const TensorDescriptor& descriptor) {
  CheckSynced(descriptor, ErrorCode::kNotExportable);
  const Layout& layout = descriptor.layout();
  std::string name(LayoutName(layout));
  if (!IsDense(layout)) Refuse(StrCat("layout ", name, " cannot be expressed in DLPack"));
  DlpackDeviceType(descriptor.device());
  if (!DlpackTypeOf(descriptor.dtype())) {
    Refuse(StrCat("dtype ", descriptor.dtype().name(),
                  " cannot be expressed in DLPack; __hurray__ hands it over unchanged"));
  }
  if (!HasStrides(layout)) {
    throw Error(ErrorCode::kUnsupported,
                StrCat("layout ", name, " cannot be expressed by strides"));
  }
  if (HasDynamicExtent(descriptor.shape())) {
    Refuse(StrCat("the shape ", ShapeText(descriptor.shape()), " has a dynamic dimension"));
  }
  if (!descriptor.device().is_cpu()) {
    Refuse(
        "the tensor is declared to be on another device, but its bytes are in host memory, "
        "which must not be handed out as a device's");
  }
  for (uint64_t extent : descriptor.shape()) {
    if (extent > uint64_t{INT64_MAX}) {
      Refuse(StrCat("the extent ", extent, " exceeds what DLPack can express"));
    }
  }
  if (!AddressableBytes(descriptor.shape(), descriptor.packing().group_bytes)) {
    Refuse(StrCat("the shape ", ShapeText(descriptor.shape()),
                  " has more bytes than an address space"));
  }
}

DLTensor Describe(const TensorObject& tensor, int64_t* strides) noexcept {
  const TensorDescriptor& descriptor = tensor.descriptor;
  uint8_t* data = tensor.buffers[0].data();
  return {
      .data = HasZeroExtent(descriptor.shape()) ? nullptr : data + descriptor.byte_offset(),
      .device = {kDLCPU, 0},
      .ndim = static_cast<int32_t>(descriptor.rank()),
      .dtype = *DlpackTypeOf(descriptor.dtype()),
      // Same width and, checked before, same values; the tensor outlives what points at it.
      .shape = reinterpret_cast<int64_t*>(const_cast<uint64_t*>(descriptor.shape().data())),
      .strides = strides,
      .byte_offset = 0,
  };
}

}  // namespace

const DLTensor& DlTensorOf(PyObject* self) {
  TensorObject* tensor = TensorOf(self);
  Exports* exports = tensor->exports.get();
  if (exports == nullptr || !exports->dlpack) {
    CheckExportable(tensor->descriptor);
    exports = ExportsOf(tensor);
    exports->dlpack = Describe(*tensor, exports->element_strides.data());
  }
  return *exports->dlpack;
}

DLManagedTensorVersioned* ExportManaged(PyObject* self, uint64_t flags) {
  const DLTensor& described = DlTensorOf(self);
  if (!IsWritable(*TensorOf(self))) flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  Exports* exports = TensorOf(self)->exports.get();
  bool in_place = !exports->managed_is_used;
  DLManagedTensorVersioned* managed =
      in_place ? &exports->managed : AllocateManaged<DLManagedTensorVersioned>();
  exports->managed_is_used = true;
  // The lowest version that has everything used here.
  managed->version = {1, described.dtype.code > kDLBool ? 1u : 0u};
  managed->manager_ctx = Py_NewRef(self);
  managed->deleter = in_place ? DeleteInPlace : DeleteAllocated;
  managed->flags = flags;
  managed->dl_tensor = described;
  return managed;
}

Ref WrapManaged(DLManagedTensorVersioned* managed) {
  PyObject* capsule = PyCapsule_New(managed, kVersionedCapsule, DestroyVersionedCapsule);
  if (capsule == nullptr) managed->deleter(managed);
  return Ref::Steal(capsule);
}

PyObject* Tensor_dlpack(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                        PyObject* kwnames) {
  static constexpr Signature kDlpack("__dlpack__", {"stream", "max_version", "dl_device", "copy"},
                                     0, 0);
  return Guard(Py_TYPE(self), [&] {
    auto bound = kDlpack.Bind(args, nargs, kwnames);
    bool versioned = IsVersioned(bound[1]);
    bool copies = bound[3] != nullptr && ToOptionalBool(bound[3], "copy") == true;
    PyObject* wanted = NoneToNull(bound[2]);
    bool usual = versioned && !copies && wanted == nullptr;
    if (usual) return WrapManaged(ExportManaged(self, 0)).release();
    DlTensorOf(self);  // throws for what cannot be handed out at all
    if (wanted != nullptr) CheckWantedDevice(self, wanted);
    Ref source = copies ? CopyForExport(self) : Ref::Borrow(self);
    if (versioned) {
      uint64_t flags = copies ? DLPACK_FLAG_BITMASK_IS_COPIED : 0;
      return WrapManaged(ExportManaged(source.get(), flags)).release();
    }
    if (!IsWritable(*TensorOf(source.get()))) {
      Refuse("the memory is read-only, which a capsule without max_version cannot tell");
    }
    const DLTensor& described = DlTensorOf(source.get());
    auto* managed = AllocateManaged<DLManagedTensor>();
    managed->dl_tensor = described;
    managed->manager_ctx = source.release();
    managed->deleter = DeleteLegacy;
    PyObject* capsule = PyCapsule_New(managed, kLegacyCapsule, DestroyLegacyCapsule);
    if (capsule == nullptr) managed->deleter(managed);
    return Ref::Steal(capsule).release();
  });
}

PyObject* Tensor_dlpack_device(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Device device = TensorOf(self)->descriptor.device();
    if (device.is_cpu()) return Py_NewRef(StateOf(Py_TYPE(self)).dlpack_cpu_device);
    Ref type = ToPython(DlpackDeviceType(device));
    Ref id = ToPython(int32_t{0});
    return Ref::Steal(PyTuple_Pack(2, type.get(), id.get())).release();
  });
}

int AddDlpackExport(PyObject*, ModuleState& state) {
  state.dlpack_cpu_device = Py_BuildValue("(ii)", static_cast<int>(kDLCPU), 0);
  return state.dlpack_cpu_device == nullptr ? -1 : 0;
}

}  // namespace hurray
