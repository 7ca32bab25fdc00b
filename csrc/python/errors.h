// Python exceptions: the module's own, and the one place where C++ exceptions become them.
#pragma once

#include <Python.h>

#include <string>
#include <type_traits>

#include "core/error.h"
#include "core/str_cat.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

// Creates the exception classes of api section 2 and adds the public ones to the module.
int AddExceptions(PyObject* module, ModuleState& state);

// Turns the exception in flight into the pending Python error. REQUIRES: inside a catch block.
void SetPythonError(ModuleState& state) noexcept;

// Runs `body`; whatever it throws becomes the pending Python error and nullptr or -1.
// `owner` is a type or the module; its state is looked up only if something was thrown.
template <typename Owner, typename Body>
auto Guard(Owner* owner, Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    SetPythonError(StateOf(owner));
  }
  if constexpr (std::is_pointer_v<decltype(body())>) {
    return nullptr;
  } else {
    return -1;
  }
}

// Sets a built-in exception and throws PythonError.
[[noreturn]] void ThrowPython(PyObject* exception, const std::string& message);
// The same, with the pending Python error as its cause. REQUIRES: one is pending.
[[noreturn]] void ThrowPythonFromPending(PyObject* exception, const std::string& message);
[[noreturn]] inline void ThrowTypeError(const std::string& message) {
  ThrowPython(PyExc_TypeError, message);
}
[[noreturn]] inline void ThrowValueError(const std::string& message) {
  ThrowPython(PyExc_ValueError, message);
}
[[noreturn]] inline void ThrowOverflowError(const std::string& message) {
  ThrowPython(PyExc_OverflowError, message);
}

// "numpy.ndarray" or "int": the type of a value, for messages.
std::string TypeName(PyObject* object);
// The repr of a value, for messages: text of any kind becomes printable, with its quotes.
std::string ReprText(PyObject* object);

// Runs a piece of Python's C API whose error is expected: true and no error pending if an error
// of class `exception` was pending.
inline bool ClearIf(PyObject* exception) noexcept {
  if (PyErr_ExceptionMatches(exception) == 0) return false;
  PyErr_Clear();
  return true;
}

}  // namespace hurray
