#include "python/gil.h"

#include <unistd.h>

namespace hurray {

namespace {

// Stops the thread where the stack is unwound past it.
class HangIfUnwound {
 public:
  HangIfUnwound() noexcept = default;
  HangIfUnwound(const HangIfUnwound&) = delete;
  HangIfUnwound& operator=(const HangIfUnwound&) = delete;
  ~HangIfUnwound() {
    while (!disarmed_) ::pause();
  }
  void Disarm() noexcept { disarmed_ = true; }

 private:
  bool disarmed_ = false;
};

void RetainPython(void* owner) noexcept {
  WithGilFromAnyThread([&] { Py_INCREF(static_cast<PyObject*>(owner)); });
}

void ReleasePython(void* owner) noexcept { DropFromAnyThread(static_cast<PyObject*>(owner)); }

}  // namespace

// Both are kept out of their callers, which are noexcept: there the compiler may end the process
// without running what the unwinding passes.
[[gnu::noinline]] void TakeGil(PyThreadState* state) {
  HangIfUnwound hang;
  PyEval_RestoreThread(state);
  hang.Disarm();
}

[[gnu::noinline]] PyGILState_STATE TakeGilState() {
  HangIfUnwound hang;
  PyGILState_STATE state = PyGILState_Ensure();
  hang.Disarm();
  return state;
}

void DropFromAnyThread(PyObject* object) noexcept {
  if (InterpreterIsGone()) return;
  WithGilFromAnyThread([&] { Py_DECREF(object); });
}

const OwnerOps kPythonOwner{RetainPython, ReleasePython, false};

}  // namespace hurray
