#include "python/pickling.h"

#include <memory>
#include <vector>

#include "core/composite.h"
#include "core/requirements.h"
#include "core/str_cat.h"
#include "python/arguments.h"
#include "python/buffer_handle.h"
#include "python/composite.h"
#include "python/copies.h"
#include "python/descriptor.h"
#include "python/device.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/tensor.h"

namespace hurray {

namespace {

// (hurray._core.<function>, arguments)
Ref ReduceTo(const char* function, Ref arguments) {
  Ref module = Ref::Steal(PyImport_ImportModule("hurray._core"));
  Ref rebuild = Ref::Steal(PyObject_GetAttrString(module.get(), function));
  return Ref::Steal(PyTuple_Pack(2, rebuild.get(), arguments.get()));
}

Ref EncodedDescriptor(const TensorDescriptor& descriptor) {
  return BytesToPython(descriptor.Encode());
}

// What a descriptor of ours encodes to is decoded with unknown layouts kept.
TensorDescriptor DecodeOwn(PyObject* encoded) {
  BytesView view(encoded, "descriptor", std::nullopt);
  return TensorDescriptor::Decode(view.bytes(), Mode::kPermissive);
}

// ---- Tensor

// The tensor's buffers as what protocol 5 can carry out of band.
Ref PickleBuffers(PyObject* self, bool out_of_band) {
  const TensorObject& tensor = *TensorOf(self);
  // The buffer protocol would have the bytes of a tensor on another device stay where they are.
  out_of_band = out_of_band && tensor.descriptor.device().is_cpu();
  auto spans = SpansOf(tensor);
  Ref buffers = Ref::Steal(PyTuple_New(static_cast<Py_ssize_t>(spans.size())));
  for (size_t i = 0; i < spans.size(); ++i) {
    Ref carried;
    if (out_of_band) {
      Ref view = ViewOfBuffer(self, i);
      carried = Ref::Steal(PyPickleBuffer_FromObject(view.get()));
    } else {
      carried = BytesToPython(spans[i]);
    }
    PyTuple_SET_ITEM(buffers.get(), static_cast<Py_ssize_t>(i), carried.release());
  }
  return buffers;
}

// A received buffer: shared where it lies on the boundary that is declared, else copied.
Buffer ReceiveBuffer(PyObject* object, const BufferHandle& handle, size_t i) {
  BytesView view(object, StrCat("buffer ", i), ErrorCode::kBuffer);
  std::span<const uint8_t> bytes = view.bytes();
  if (bytes.size() < handle.byte_size) {
    throw Error(ErrorCode::kBuffer, StrCat("buffer ", i, " has ", bytes.size(),
                                           " bytes, the descriptor declares ", handle.byte_size));
  }
  bytes = bytes.first(static_cast<size_t>(handle.byte_size));
  if (bytes.empty()) return Buffer();
  // Bytes were carried in band: nobody else has them, and a tensor of one's own can be written.
  bool in_band = PyBytes_CheckExact(object);
  if (!in_band && reinterpret_cast<uintptr_t>(bytes.data()) % handle.alignment == 0) {
    Ref owner = Ref::Steal(PyMemoryView_FromObject(object));
    return BorrowedBuffer(const_cast<uint8_t*>(bytes.data()), bytes.size(), view.writable(),
                          owner.get());
  }
  return CopyBytes(bytes, ReachableAlignment(handle));
}

constexpr Signature kRebuildTensor("_rebuild_tensor", {"descriptor", "device", "buffers"});

PyObject* RebuildTensor(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                        PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kRebuildTensor.Bind(args, nargs, kwnames);
    ModuleState& state = StateOf(module);
    TensorDescriptor descriptor = DecodeOwn(bound[0]);
    Ref device = ToDeviceObject(state, bound[1], "device");
    auto table = descriptor.buffers();
    Ref received = ToTupleOfItems(bound[2], "buffers");
    auto count = static_cast<size_t>(PyTuple_GET_SIZE(received.get()));
    if (count != table.size() || IsVirtual(descriptor.layout())) {
      throw Error(ErrorCode::kBuffer,
                  StrCat(count, " buffers were pickled, the descriptor declares ", table.size()));
    }
    TensorBuffers buffers;
    for (size_t i = 0; i < count; ++i) {
      PyObject* object = PyTuple_GET_ITEM(received.get(), static_cast<Py_ssize_t>(i));
      buffers.Add(ReceiveBuffer(object, table[i], i));
    }
    return NewTensor(state, std::move(descriptor), std::move(buffers), device.get()).release();
  });
}

// ---- Composite

constexpr Signature kRebuildComposite("_rebuild_composite", {"head", "members"});

PyObject* RebuildComposite(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kRebuildComposite.Bind(args, nargs, kwnames);
    ModuleState& state = StateOf(module);
    TensorDescriptor head = DecodeOwn(bound[0]);
    if (!IsVirtual(head.layout())) {
      ThrowInvalidDescriptor(StrCat("the head of a composite has layout ",
                                    LayoutName(head.layout()), ", it must be composite"));
    }
    Ref members = ToCompositeMembers(state, bound[1]);
    CheckCompositeOf(state, head, members.get());
    return NewComposite(state, std::move(head), std::move(members)).release();
  });
}

// ---- the rest

constexpr Signature kRebuildDescriptor("_rebuild_descriptor", {"descriptor", "device"});

PyObject* RebuildDescriptor(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                            PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kRebuildDescriptor.Bind(args, nargs, kwnames);
    ModuleState& state = StateOf(module);
    Ref device = ToDeviceObject(state, bound[1], "device");
    return DescriptorToPython(state, DecodeOwn(bound[0]), device.get()).release();
  });
}

constexpr Signature kRebuildDevice("_rebuild_device", {"kind", "device_id", "memory_class"});

PyObject* RebuildDevice(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                        PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kRebuildDevice.Bind(args, nargs, kwnames);
    ModuleState& state = StateOf(module);
    Ref device =
        Ref::Steal(PyObject_Vectorcall(state.device_type, bound.data(), bound.size(), nullptr));
    // The constants of hurray.device come back as themselves.
    Ref constants = Ref::Steal(PyObject_GetAttrString(module, "_devices"));
    Ref kind = Ref::Steal(PyObject_GetAttrString(device.get(), "kind"));
    Ref constant = Ref::Borrow(PyDict_GetItemWithError(constants.get(), kind.get()));
    if (!constant && PyErr_Occurred() != nullptr) throw PythonError();
    bool same =
        constant && Checked(PyObject_RichCompareBool(constant.get(), device.get(), Py_EQ)) == 1;
    return same ? constant.release() : device.release();
  });
}

constexpr Signature kRebuildHandle("_rebuild_buffer_handle",
                                   {"byte_size", "alignment", "sync_mode", "device"});

PyObject* RebuildBufferHandle(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                              PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kRebuildHandle.Bind(args, nargs, kwnames);
    ModuleState& state = StateOf(module);
    Ref device = ToDeviceObject(state, bound[3], "device");
    BufferHandle handle;
    handle.byte_size = ToInteger<uint64_t>(bound[0], "byte_size");
    handle.alignment = ToInteger<uint32_t>(bound[1], "alignment");
    auto sync_mode = ToInteger<uint8_t>(bound[2], "sync_mode");
    if (sync_mode > static_cast<uint8_t>(SyncMode::kConsumerStream)) {
      ThrowInvalidDescriptor(StrCat("sync_mode is ", sync_mode, ", it must be 0, 1 or 2"));
    }
    handle.sync_mode = static_cast<SyncMode>(sync_mode);
    handle.device = DeviceOf(device.get());
    return BufferHandleToPython(state, handle, device.get()).release();
  });
}

PyMethodDef kFunctions[] = {
    {"_rebuild_tensor", Method(RebuildTensor), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"_rebuild_composite", Method(RebuildComposite), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"_rebuild_descriptor", Method(RebuildDescriptor), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"_rebuild_device", Method(RebuildDevice), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"_rebuild_buffer_handle", Method(RebuildBufferHandle), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* Tensor_reduce_ex(PyObject* self, PyObject* protocol) {
  return Guard(Py_TYPE(self), [&] {
    TensorObject* tensor = TensorOf(self);
    CheckSynced(tensor->descriptor, ErrorCode::kUnsupported);
    bool out_of_band = ToInteger<int64_t>(protocol, "protocol") >= 5;
    Ref descriptor = EncodedDescriptor(tensor->descriptor);
    Ref buffers = PickleBuffers(self, out_of_band);
    Ref arguments = Ref::Steal(PyTuple_Pack(3, descriptor.get(), tensor->device, buffers.get()));
    return ReduceTo("_rebuild_tensor", std::move(arguments)).release();
  });
}

PyObject* Tensor_copy(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    TensorObject* tensor = TensorOf(self);
    return NewTensor(StateOf(Py_TYPE(self)), tensor->descriptor, TensorBuffers(tensor->buffers),
                     tensor->device)
        .release();
  });
}

PyObject* Tensor_deepcopy(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    TensorObject* tensor = TensorOf(self);
    CheckSynced(tensor->descriptor, ErrorCode::kUnsupported);
    return NewTensor(StateOf(Py_TYPE(self)), tensor->descriptor, CopyBuffers(*tensor),
                     tensor->device)
        .release();
  });
}

PyObject* Composite_reduce(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Ref head = EncodedDescriptor(HeadOf(self));
    Ref arguments = Ref::Steal(PyTuple_Pack(2, head.get(), MembersOf(self)));
    return ReduceTo("_rebuild_composite", std::move(arguments)).release();
  });
}

PyObject* Composite_deepcopy(PyObject* self, PyObject* memo) {
  return Guard(Py_TYPE(self), [&] {
    Ref copy = Ref::Steal(PyImport_ImportModule("copy"));
    Ref members =
        Ref::Steal(PyObject_CallMethod(copy.get(), "deepcopy", "OO", MembersOf(self), memo));
    return NewComposite(StateOf(Py_TYPE(self)), HeadOf(self), std::move(members)).release();
  });
}

PyObject* Descriptor_reduce(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Ref encoded = Ref::Steal(PyObject_CallMethod(self, "encode", nullptr));
    Ref device = Ref::Steal(PyObject_GetAttrString(self, "device"));
    Ref arguments = Ref::Steal(PyTuple_Pack(2, encoded.get(), device.get()));
    return ReduceTo("_rebuild_descriptor", std::move(arguments)).release();
  });
}

PyObject* Device_reduce(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Device device = DeviceOf(self);
    Ref arguments =
        Ref::Steal(Py_BuildValue("(iii)", device.tag, DeviceIdOf(self), device.memory_class));
    return ReduceTo("_rebuild_device", std::move(arguments)).release();
  });
}

PyObject* BufferHandle_reduce(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    const BufferHandle& handle = BufferHandleOf(self);
    Ref device = Ref::Steal(PyObject_GetAttrString(self, "device"));
    Ref arguments = Ref::Steal(Py_BuildValue("(KIiO)", handle.byte_size, handle.alignment,
                                             static_cast<int>(handle.sync_mode), device.get()));
    return ReduceTo("_rebuild_buffer_handle", std::move(arguments)).release();
  });
}

int AddPickling(PyObject* module, ModuleState&) {
  return PyModule_AddFunctions(module, kFunctions);
}

}  // namespace hurray
