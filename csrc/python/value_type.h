// What Python types around one immutable C++ value have in common.
#pragma once

#include <Python.h>
#include <structmember.h>

#include <new>
#include <type_traits>
#include <utility>

#include "python/ref.h"

namespace hurray {

template <typename T>
struct ValueObject {
  PyObject_HEAD
  PyObject* weakrefs;
  T value;
};

template <typename T>
const T& ValueOf(PyObject* self) noexcept {
  return reinterpret_cast<ValueObject<T>*>(self)->value;
}

// A new instance of `type`. All that can throw while the value is made precedes the allocation,
// so dealloc never meets half an object.
template <typename T>
Ref NewValue(PyTypeObject* type, T value) {
  static_assert(std::is_nothrow_move_constructible_v<T>);
  Ref self = Ref::Steal(type->tp_alloc(type, 0));
  new (&reinterpret_cast<ValueObject<T>*>(self.get())->value) T(std::move(value));
  return self;
}

template <typename T>
int Value_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));  // instances own their heap type; without this the module leaks
  return 0;
}

template <typename T>
void Value_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  auto* object = reinterpret_cast<ValueObject<T>*>(self);
  PyObject_GC_UnTrack(self);
  if (object->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  object->value.~T();
  type->tp_free(self);
  Py_DECREF(type);
}

// The member list that makes a ValueObject<T> weakly referable, for Py_tp_members.
template <typename T>
PyMemberDef* WeakrefMember() noexcept {
  static PyMemberDef members[] = {
      {"__weaklistoffset__", T_PYSSIZET,
       static_cast<Py_ssize_t>(offsetof(ValueObject<T>, weakrefs)), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  };
  return members;
}

// Flags of every type of ours that Python code may call, and of those it may not.
inline constexpr unsigned kFinalType =
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE;
inline constexpr unsigned kFinalNotConstructible = kFinalType | Py_TPFLAGS_DISALLOW_INSTANTIATION;

// Answers == and != of two instances of one type, and NotImplemented for everything else.
template <typename T>
PyObject* Value_richcompare(PyObject* self, PyObject* other, int op) {
  if (Py_TYPE(self) != Py_TYPE(other) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  bool equal = self == other || ValueOf<T>(self) == ValueOf<T>(other);
  return Py_NewRef(equal == (op == Py_EQ) ? Py_True : Py_False);
}

}  // namespace hurray
