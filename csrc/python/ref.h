// Ownership of Python objects.
#pragma once

#include <Python.h>

#include <utility>

namespace hurray {

struct PythonError {};  // thrown where CPython has already set an error

// Throws PythonError if a call that answers with a status failed.
inline int Checked(int status) {
  if (status < 0) throw PythonError();
  return status;
}

// One strong reference. Outside tp_dealloc, tp_clear and the module's clear, no other code counts
// references.
class Ref {
 public:
  Ref() noexcept : object_(nullptr) {}
  // Adopts a new reference; nullptr means CPython failed.
  static Ref Steal(PyObject* object) {
    if (object == nullptr) throw PythonError();
    return Ref(object);
  }
  // Adopts a new reference that may be nullptr without an error.
  static Ref StealOrNull(PyObject* object) noexcept { return Ref(object); }
  static Ref Borrow(PyObject* object) noexcept { return Ref(Py_XNewRef(object)); }
  static Ref None() noexcept { return Borrow(Py_None); }

  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  Ref(Ref&& other) noexcept : object_(other.release()) {}
  Ref& operator=(Ref&& other) noexcept {
    Ref old(std::exchange(object_, other.release()));
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  [[nodiscard]] PyObject* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  explicit Ref(PyObject* object) noexcept : object_(object) {}
  PyObject* object_;
};

}  // namespace hurray
