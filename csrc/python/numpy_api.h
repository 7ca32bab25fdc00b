// NumPy's C API: its macros live here, its import in numpy_api.cc, and nowhere else.
#pragma once

#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL hurray_ARRAY_API
#ifndef HURRAY_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif

#include <numpy/arrayobject.h>

#include <atomic>

#include "python/ref.h"

static_assert(NPY_ABI_VERSION >= 0x02000000, "build with the headers of NumPy 2 or newer");

namespace hurray {

// Imports NumPy's API on first need. Throws PythonError with the ImportError of `import numpy`.
// Everything below, and every PyArray_ function, requires it to have been called.
void RequireNumpy();

namespace internal {
extern std::atomic<bool> numpy_is_ready;
}

// True once RequireNumpy() has been called.
inline bool NumpyIsReady() noexcept {
  return internal::numpy_is_ready.load(std::memory_order_acquire);
}

// True if NumPy was imported by somebody: only then can an object be an array.
bool NumpyIsLoaded();

}  // namespace hurray
