#include "python/quick_method.h"

#include <structmember.h>

#include "python/arguments.h"
#include "python/module_state.h"

namespace hurray {

namespace {

// ---- the bound method

void QuickMethod_dealloc(PyObject* self) {
  // The memory belongs to the owner, which may go with it.
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(OwnerOf(self));
  Py_DECREF(type);
}

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, static_cast<Py_ssize_t>(offsetof(QuickMethod, call)),
     READONLY, nullptr},
    {"__self__", T_OBJECT, static_cast<Py_ssize_t>(offsetof(QuickMethod, owner)), READONLY,
     "The object that the method is bound to."},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot kMethodSlots[] = {
    {Py_tp_dealloc, Slot(QuickMethod_dealloc)},
    {Py_tp_call, Slot(PyVectorcall_Call)},
    {Py_tp_members, kMembers},
    {0, nullptr},
};

// Without garbage collection, for which an object would need memory before itself. What it refers
// to is found from the owner.
PyType_Spec kMethodSpec = {
    .name = "hurray._QuickMethod",
    .basicsize = sizeof(QuickMethod),
    .itemsize = 0,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = kMethodSlots,
};

// ---- what binds it

struct Binder {
  PyObject_HEAD
  PyObject* method;       // as found on the type
  PyObject* method_type;  // of the QuickMethod
  size_t offset;
  vectorcallfunc call;
};

Binder* BinderOf(PyObject* self) noexcept { return reinterpret_cast<Binder*>(self); }

PyObject* Binder_bind(PyObject* self, PyObject* owner, PyObject*) {
  Binder* binder = BinderOf(self);
  if (owner == nullptr) return Py_NewRef(binder->method);
  auto* bound =
      reinterpret_cast<QuickMethod*>(reinterpret_cast<std::byte*>(owner) + binder->offset);
  auto* object = reinterpret_cast<PyObject*>(bound);
  if (Py_REFCNT(object) > 0) return Py_NewRef(object);
  PyObject_Init(object, AsType(binder->method_type));
  bound->call = binder->call;
  bound->owner = Py_NewRef(owner);
  return object;
}

int Binder_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(BinderOf(self)->method);
  Py_VISIT(BinderOf(self)->method_type);
  return 0;
}

int Binder_clear(PyObject* self) {
  Py_CLEAR(BinderOf(self)->method);
  Py_CLEAR(BinderOf(self)->method_type);
  return 0;
}

void Binder_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Binder_clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyType_Slot kBinderSlots[] = {
    {Py_tp_traverse, Slot(Binder_traverse)},
    {Py_tp_clear, Slot(Binder_clear)},
    {Py_tp_dealloc, Slot(Binder_dealloc)},
    {Py_tp_descr_get, Slot(Binder_bind)},
    {0, nullptr},
};

PyType_Spec kBinderSpec = {
    .name = "hurray._QuickMethodBinder",
    .basicsize = sizeof(Binder),
    .itemsize = 0,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = kBinderSlots,
};

}  // namespace

void MakeMethodsQuick(PyTypeObject* type, std::span<const QuickMethodSpec> methods) {
  Ref method_type = Ref::Steal(PyType_FromSpec(&kMethodSpec));
  Ref binder_type = Ref::Steal(PyType_FromSpec(&kBinderSpec));
  for (const QuickMethodSpec& spec : methods) {
    Ref method = Ref::Steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), spec.name));
    Ref binder = Ref::Steal(AsType(binder_type.get())->tp_alloc(AsType(binder_type.get()), 0));
    BinderOf(binder.get())->method = method.release();
    BinderOf(binder.get())->method_type = Ref::Borrow(method_type.get()).release();
    BinderOf(binder.get())->offset = spec.offset;
    BinderOf(binder.get())->call = spec.call;
    Checked(PyDict_SetItemString(type->tp_dict, spec.name, binder.get()));
  }
  PyType_Modified(type);
}

}  // namespace hurray
