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

}  // namespace hurray
