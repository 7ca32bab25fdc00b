#define HURRAY_IMPORTS_NUMPY
#include "python/numpy_api.h"

#include <atomic>

#include "python/errors.h"

namespace hurray {

namespace {

// Not std::call_once: a thread that waits for it while holding the GIL, and the import that needs
// the GIL, would wait for each other for ever. Importing twice is harmless.
std::atomic<bool> imported{false};

}  // namespace

void RequireNumpy() {
  if (imported.load(std::memory_order_acquire)) return;
  Ref numpy = Ref::Steal(PyImport_ImportModule("numpy"));
  if (_import_array() < 0) throw PythonError();
  imported.store(true, std::memory_order_release);
}

bool NumpyIsLoaded() {
  if (imported.load(std::memory_order_acquire)) return true;
  Ref name = Ref::Steal(PyUnicode_FromString("numpy"));
  Ref module = Ref::StealOrNull(PyImport_GetModule(name.get()));
  if (!module && PyErr_Occurred() != nullptr) throw PythonError();
  return module && module.get() != Py_None;
}

}  // namespace hurray
