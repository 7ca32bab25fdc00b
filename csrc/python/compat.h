// Differences between the CPython versions that we support, and nothing else.
#pragma once

#include <Python.h>

#if PY_VERSION_HEX < 0x030A0000
#error "CPython 3.10 or newer is needed"
#endif

namespace hurray {

// True once the interpreter has begun to end: from then on a thread that does not hold the GIL
// can never take it again.
inline bool InterpreterIsGone() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() == 0 || Py_IsFinalizing() != 0;
#else
  return Py_IsInitialized() == 0 || _Py_IsFinalizing() != 0;
#endif
}

// Whether an int is positive and so small that CPython keeps it in one digit; looks at nothing but
// the object's head.
inline bool IsSmallPositive(PyObject* exact_int) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
  auto* integer = reinterpret_cast<PyLongObject*>(exact_int);
  return PyUnstable_Long_IsCompact(integer) != 0 && PyUnstable_Long_CompactValue(integer) > 0;
#else
  return Py_SIZE(exact_int) == 1;
#endif
}

}  // namespace hurray
