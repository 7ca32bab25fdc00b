#define HURRAY_IMPORTS_NUMPY
#include "python/numpy_api.h"

#include "python/errors.h"

namespace hurray {

namespace internal {

// Not std::call_once: a thread that waits for it while holding the GIL, and the import that needs
// the GIL, would wait for each other for ever. Importing twice is harmless.
std::atomic<bool> numpy_is_ready{false};

}  // namespace internal

void RequireNumpy() {
  if (NumpyIsReady()) return;
  Ref numpy = Ref::Steal(PyImport_ImportModule("numpy"));
  if (_import_array() < 0) throw PythonError();
  internal::numpy_is_ready.store(true, std::memory_order_release);
}

bool NumpyIsLoaded() {
  if (NumpyIsReady()) return true;
  Ref name = Ref::Steal(PyUnicode_FromString("numpy"));
  Ref module = Ref::StealOrNull(PyImport_GetModule(name.get()));
  if (!module && PyErr_Occurred() != nullptr) throw PythonError();
  return module && module.get() != Py_None;
}

}  // namespace hurray
