#include "python/buffer_handle.h"

#include <structmember.h>

#include "python/arguments.h"
#include "python/errors.h"
#include "python/pickling.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr char kDoc[] = R"(One row of a tensor's buffer table: what a buffer declares about itself.

Not constructible; `Tensor.buffer_handles` and `Descriptor.buffer_handles` give them. A handle
describes memory and keeps none alive.

Notes
-----
Format: section 4, "Buffer handle".

Examples
--------
>>> handle = hurray.Tensor(bytes(16), hurray.float32, [4]).buffer_handles[0]
>>> handle.byte_size, handle.alignment, handle.sync_mode
(16, 64, 'producer_synced')
)";

struct BufferHandleObject {
  PyObject_HEAD
  PyObject* weakrefs;
  PyObject* device;
  BufferHandle handle;
};

BufferHandleObject* Of(PyObject* self) { return reinterpret_cast<BufferHandleObject*>(self); }

// ---- lifetime

int BufferHandle_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(Of(self)->device);
  return 0;
}

int BufferHandle_clear(PyObject* self) {
  Py_CLEAR(Of(self)->device);
  return 0;
}

void BufferHandle_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (Of(self)->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  BufferHandle_clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// ---- properties

PyObject* BufferHandle_byte_size(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(Of(self)->handle.byte_size);
}
PyObject* BufferHandle_alignment(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(Of(self)->handle.alignment);
}
PyObject* BufferHandle_sync_mode(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return ToPython(SyncModeName(Of(self)->handle.sync_mode)).release(); });
}
PyObject* BufferHandle_is_empty(PyObject* self, void*) {
  return PyBool_FromLong(Of(self)->handle.byte_size == 0);
}

PyGetSetDef kProperties[] = {
    {"byte_size", BufferHandle_byte_size, nullptr, "int: declared bytes of the buffer.", nullptr},
    {"alignment", BufferHandle_alignment, nullptr,
     "int: power of two in bytes; at least 64, or 1 for an empty buffer.", nullptr},
    {"sync_mode", BufferHandle_sync_mode, nullptr,
     "str: ``'producer_synced'``, ``'event'`` or ``'consumer_stream'``.", nullptr},
    {"is_empty", BufferHandle_is_empty, nullptr, "bool: the buffer has no bytes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"device", T_OBJECT_EX, static_cast<Py_ssize_t>(offsetof(BufferHandleObject, device)), READONLY,
     "Device: where the buffer is; the tensor's own object."},
    {"__weaklistoffset__", T_PYSSIZET,
     static_cast<Py_ssize_t>(offsetof(BufferHandleObject, weakrefs)), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

// ---- methods

PyObject* BufferHandle_repr(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    const BufferHandle& handle = Of(self)->handle;
    std::string head =
        StrCat("BufferHandle(byte_size=", handle.byte_size, ", alignment=", handle.alignment,
               ", sync_mode='", SyncModeName(handle.sync_mode), "', device=");
    return PyUnicode_FromFormat("%s%R)", head.c_str(), Of(self)->device);
  });
}

PyObject* BufferHandle_richcompare(PyObject* self, PyObject* other, int op) {
  return Guard(Py_TYPE(self), [&] {
    if (Py_TYPE(self) != Py_TYPE(other) || (op != Py_EQ && op != Py_NE)) {
      return Py_NewRef(Py_NotImplemented);
    }
    bool equal = Of(self)->handle == Of(other)->handle &&
                 Checked(PyObject_RichCompareBool(Of(self)->device, Of(other)->device, Py_EQ)) == 1;
    return Py_NewRef(equal == (op == Py_EQ) ? Py_True : Py_False);
  });
}

Py_hash_t BufferHandle_hash(PyObject* self) {
  return Guard(Py_TYPE(self), [&]() -> Py_hash_t {
    const BufferHandle& handle = Of(self)->handle;
    Ref fields = Ref::Steal(Py_BuildValue("(KIiO)", handle.byte_size, handle.alignment,
                                          static_cast<int>(handle.sync_mode), Of(self)->device));
    Py_hash_t hash = PyObject_Hash(fields.get());
    if (hash == -1) throw PythonError();
    return hash;
  });
}

PyMethodDef kMethods[] = {
    {"__reduce__", Method(BufferHandle_reduce), METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_traverse, Slot(BufferHandle_traverse)},
    {Py_tp_clear, Slot(BufferHandle_clear)},
    {Py_tp_dealloc, Slot(BufferHandle_dealloc)},
    {Py_tp_members, kMembers},
    {Py_tp_getset, kProperties},
    {Py_tp_methods, kMethods},
    {Py_tp_repr, Slot(BufferHandle_repr)},
    {Py_tp_richcompare, Slot(BufferHandle_richcompare)},
    {Py_tp_hash, Slot(BufferHandle_hash)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.BufferHandle",
    .basicsize = sizeof(BufferHandleObject),
    .itemsize = 0,
    .flags = kFinalNotConstructible,
    .slots = kSlots,
};

}  // namespace

Ref BufferHandleToPython(ModuleState& state, const BufferHandle& handle, PyObject* device) {
  auto* type = AsType(state.buffer_handle_type);
  Ref self = Ref::Steal(type->tp_alloc(type, 0));
  Of(self.get())->device = Py_NewRef(device);
  Of(self.get())->handle = handle;
  return self;
}

const BufferHandle& BufferHandleOf(PyObject* object) noexcept { return Of(object)->handle; }

int AddBufferHandle(PyObject* module, ModuleState& state) {
  state.buffer_handle_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.buffer_handle_type == nullptr) return -1;
  return PyModule_AddType(module, AsType(state.buffer_handle_type));
}

}  // namespace hurray
