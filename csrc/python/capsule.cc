#include "python/capsule.h"

#include <hurray/hurray.h>

#include <cstdlib>
#include <new>

#include "python/arguments.h"
#include "python/device.h"
#include "python/errors.h"
#include "python/foreign_buffers.h"
#include "python/gil.h"
#include "python/tensor.h"

namespace hurray {

const char kTensorHurrayDoc[] = R"(__hurray__($self, stream=None)
--

A capsule that hands the tensor over without a copy, whatever its layout and element type.

Parameters
----------
stream : optional
    Ignored.

Returns
-------
capsule
    Named ``"hurray_tensor"``, laid out as the header `hurray.h` says; it keeps the tensor alive.

Raises
------
InvalidDescriptorError
    If the descriptor cannot be encoded.

Notes
-----
Format: section 3, "Tensor descriptor".

Examples
--------
>>> t = hurray.ones([2])
>>> hurray.from_hurray(t).shape
(2,)
)";

namespace {

// ---- producing

// List, buffers, context and descriptor in one allocation, in that order.
struct Export {
  HurrayTensorContext context;
  HurrayBufferList list;
};

void ReleaseExport(HurrayTensorContext* context) noexcept {
  DropFromAnyThread(static_cast<PyObject*>(context->owner));
  std::free(context);  // the first member of its Export
}

void DestroyCapsule(PyObject* capsule) noexcept {
  // A consumer changes the name; then everything is the consumer's.
  if (PyCapsule_IsValid(capsule, HURRAY_CAPSULE_NAME) == 0) return;
  auto* context = static_cast<HurrayTensorContext*>(PyCapsule_GetContext(capsule));
  context->release(context);
}

void FillBuffers(const TensorObject& tensor, HurrayBuffer* buffers) noexcept {
  int32_t device_id = DeviceIdOf(tensor.device);
  for (size_t i = 0; i < tensor.buffers.size(); ++i) {
    const BufferHandle& handle = tensor.descriptor.buffers()[i];
    const Buffer& memory = tensor.buffers[i];
    buffers[i] = {
        .data = handle.byte_size == 0 ? nullptr : memory.data(),
        .byte_size = handle.byte_size,
        .flags = memory.writable() ? 0u : HURRAY_BUFFER_READ_ONLY,
        .device_tag = handle.device.tag,
        .memory_class = handle.device.memory_class,
        .sync_mode = static_cast<uint8_t>(handle.sync_mode),
        .reserved = 0,
        .device_id = device_id,
        .reserved2 = 0,
    };
  }
}

Ref MakeCapsule(PyObject* self) {
  const TensorObject& tensor = *TensorOf(self);
  size_t count = tensor.buffers.size();
  size_t descriptor_size = tensor.descriptor.encoded_size();
  size_t buffers_size = count * sizeof(HurrayBuffer);
  void* memory = std::malloc(sizeof(Export) + buffers_size + descriptor_size);
  if (memory == nullptr) throw std::bad_alloc();
  auto* made = static_cast<Export*>(memory);
  auto* buffers = reinterpret_cast<HurrayBuffer*>(made + 1);
  auto* descriptor = reinterpret_cast<uint8_t*>(buffers + count);
  made->context = {
      .magic = HURRAY_CONTEXT_MAGIC,
      .struct_size = sizeof(HurrayTensorContext),
      .abi_version = HURRAY_ABI_VERSION,
      .descriptor = descriptor,
      .descriptor_size = descriptor_size,
      .owner = Py_NewRef(self),
      .release = ReleaseExport,
  };
  made->list = {
      .magic = HURRAY_LIST_MAGIC,
      .struct_size = sizeof(HurrayBufferList),
      .abi_version = HURRAY_ABI_VERSION,
      .buffer_size = sizeof(HurrayBuffer),
      .buffer_count = static_cast<uint32_t>(count),
      .buffers = buffers,
  };
  FillBuffers(tensor, buffers);
  tensor.descriptor.EncodeTo({descriptor, descriptor_size});
  Ref capsule = Ref::StealOrNull(PyCapsule_New(&made->list, HURRAY_CAPSULE_NAME, DestroyCapsule));
  if (!capsule || PyCapsule_SetContext(capsule.get(), &made->context) < 0) {
    // Without a context the destructor has nothing to release.
    if (capsule) PyCapsule_SetDestructor(capsule.get(), nullptr);
    ReleaseExport(&made->context);
    throw PythonError();
  }
  return capsule;
}

// ---- consuming

[[noreturn]] void ThrowBuffer(const std::string& message) {
  throw Error(ErrorCode::kBuffer, message);
}

void CheckName(PyObject* capsule) {
  if (!PyCapsule_CheckExact(capsule)) {
    ThrowBuffer(StrCat("__hurray__() returned ", TypeName(capsule), ", not a capsule"));
  }
  if (PyCapsule_IsValid(capsule, HURRAY_CAPSULE_NAME) != 0) return;
  if (PyCapsule_IsValid(capsule, HURRAY_USED_CAPSULE_NAME) != 0) {
    ThrowBuffer("the capsule was already consumed");
  }
  const char* name = PyCapsule_GetName(capsule);
  if (name == nullptr) PyErr_Clear();
  ThrowBuffer(StrCat("the capsule is named '", std::string_view(name == nullptr ? "" : name),
                     "', it must be 'hurray_tensor'"));
}

// Throws for structs that this build cannot read. The capsule stays intact.
void CheckStructs(const HurrayBufferList* list, const HurrayTensorContext* context) {
  auto unsupported = [](const std::string& message) {
    throw Error(ErrorCode::kUnsupported, message);
  };
  if (context->magic != HURRAY_CONTEXT_MAGIC || list->magic != HURRAY_LIST_MAGIC) {
    unsupported("the capsule was made by another implementation, whose memory cannot be read");
  }
  if (context->abi_version != HURRAY_ABI_VERSION || list->abi_version != HURRAY_ABI_VERSION) {
    unsupported(StrCat("the capsule has ABI version ", context->abi_version,
                       ", this version reads ", HURRAY_ABI_VERSION));
  }
  if (context->struct_size < sizeof(HurrayTensorContext) ||
      list->struct_size < sizeof(HurrayBufferList)) {
    unsupported(StrCat("the capsule's context has ", context->struct_size, " bytes, at least ",
                       sizeof(HurrayTensorContext), " are needed"));
  }
  if (HurrayBufferList_IsUsable(list) == 0 || HurrayTensorContext_IsUsable(context) == 0) {
    ThrowBuffer("the capsule is malformed: a pointer in it is NULL or a size is too small");
  }
}

// Runs a foreign context's own release function, with the lock, which it may count on.
void ReleaseContext(void* owner) noexcept {
  auto* context = static_cast<HurrayTensorContext*>(owner);
  WithGilFromAnyThread([&] { context->release(context); });
}

Ref ConsumeCapsule(ModuleState& state, PyObject* capsule) {
  CheckName(capsule);
  auto* list = static_cast<HurrayBufferList*>(PyCapsule_GetPointer(capsule, HURRAY_CAPSULE_NAME));
  auto* context = static_cast<HurrayTensorContext*>(PyCapsule_GetContext(capsule));
  if (list == nullptr || context == nullptr) {
    PyErr_Clear();
    ThrowBuffer("the capsule is malformed: its context is NULL");
  }
  CheckStructs(list, context);
  Checked(PyCapsule_SetName(capsule, HURRAY_USED_CAPSULE_NAME));
  // From here on the context is ours: whatever happens, it is released once.
  ForeignHold hold(context, ReleaseContext);
  if (context->descriptor_size > uint64_t{PTRDIFF_MAX}) {
    ThrowInvalidDescriptor(
        StrCat("the capsule's descriptor claims ", context->descriptor_size, " bytes"));
  }
  return TensorFromForeign(state,
                           {context->descriptor, static_cast<size_t>(context->descriptor_size)},
                           list->buffers, list->buffer_count, list->buffer_size, hold);
}

// ---- module function

constexpr char kFromHurrayDoc[] = R"(from_hurray(obj)
--

Take over the tensor that an object's ``__hurray__`` hands out, sharing all its buffers.

Parameters
----------
obj : object with ``__hurray__``

Returns
-------
Tensor
    With every section of the descriptor; it keeps the producer's memory alive.

Raises
------
TypeError
    If `obj` has no ``__hurray__``.
BufferError
    If what it returns is no unused capsule, or a buffer is missing, too small or not on a
    64-byte boundary.
UnsupportedError
    If the capsule has another ABI version.
InvalidDescriptorError
    If the descriptor is invalid or declares another number of buffers.

Notes
-----
Format: section 3, "Tensor descriptor".

Examples
--------
>>> t = hurray.Tensor(bytes(16), hurray.float32, [4])
>>> hurray.from_hurray(t).shape
(4,)
)";

PyObject* FromHurrayFunction(PyObject* module, PyObject* object) {
  return Guard(module, [&] { return FromHurray(StateOf(module), object).release(); });
}

constexpr Signature<1> kFromHurray("from_hurray", {"obj"});

PyMethodDef kFunctions[] = {
    {"from_hurray", Method(OneArgument<kFromHurray, FromHurrayFunction>),
     METH_FASTCALL | METH_KEYWORDS, kFromHurrayDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* Tensor_hurray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                        PyObject* kwnames) {
  static constexpr Signature kHurray("__hurray__", {"stream"}, 0);
  return Guard(Py_TYPE(self), [&] {
    kHurray.Bind(args, nargs, kwnames);
    return MakeCapsule(self).release();
  });
}

Ref FromHurray(ModuleState& state, PyObject* object) {
  Ref method = Ref::StealOrNull(PyObject_GetAttr(object, state.name_hurray));
  if (!method) {
    if (!ClearIf(PyExc_AttributeError)) throw PythonError();
    ThrowTypeError(StrCat(TypeName(object), " has no __hurray__"));
  }
  Ref capsule = Ref::Steal(PyObject_CallNoArgs(method.get()));
  return ConsumeCapsule(state, capsule.get());
}

int AddCapsule(PyObject* module, ModuleState& state) {
  state.name_hurray = PyUnicode_InternFromString("__hurray__");
  if (state.name_hurray == nullptr) return -1;
  return PyModule_AddFunctions(module, kFunctions);
}

}  // namespace hurray
