// Methods of one object that Python binds over and over, such as __enter__ and __exit__: binding
// them allocates nothing.
#pragma once

#include <Python.h>

#include <cstddef>
#include <span>

#include "python/ref.h"

namespace hurray {

// A bound method as part of the object that it is bound to. It is alive while somebody holds it,
// and then keeps the object alive. Zeroed memory is one that nobody holds.
struct QuickMethod {
  PyObject_HEAD
  vectorcallfunc call;  // gets the QuickMethod; OwnerOf tells the object
  PyObject* owner;
};

inline PyObject* OwnerOf(PyObject* quick_method) noexcept {
  return reinterpret_cast<QuickMethod*>(quick_method)->owner;
}

struct QuickMethodSpec {
  const char* name;
  size_t offset;  // of the QuickMethod in an instance
  vectorcallfunc call;
};

// Makes binding these methods, which `type` has already, give the QuickMethod of the instance. On
// the type itself they stay what they are. For a type that has just been made.
void MakeMethodsQuick(PyTypeObject* type, std::span<const QuickMethodSpec> methods);

}  // namespace hurray
