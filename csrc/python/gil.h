// The interpreter lock: giving it up, taking it, and dropping references where it may be absent.
#pragma once

#include <Python.h>

#include <cstddef>

#include "python/compat.h"
#include "storage/buffer.h"

namespace hurray {

// Copies of more bytes than this are made without the lock.
inline constexpr size_t kGilReleaseBytes = 64 * 1024;

// Until 3.14 CPython ends a thread that asks for the lock of an interpreter that is ending, by
// unwinding its stack: through destructors that would drop references without the lock, and into
// noexcept functions, which end the process. A thread that meets that in one of these two stops
// there instead, for the little while that the process still has.
void TakeGil(PyThreadState* state);
PyGILState_STATE TakeGilState();

class GilRelease {
 public:
  GilRelease() noexcept : state_(PyEval_SaveThread()) {}
  ~GilRelease() { TakeGil(state_); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

// REQUIRES: !InterpreterIsGone(), or this thread holds the lock already.
class GilEnsure {
 public:
  GilEnsure() noexcept : state_(TakeGilState()) {}
  ~GilEnsure() { PyGILState_Release(state_); }
  GilEnsure(const GilEnsure&) = delete;
  GilEnsure& operator=(const GilEnsure&) = delete;

 private:
  PyGILState_STATE state_;
};

// Runs `work` without the lock if it moves more than kGilReleaseBytes.
template <typename Work>
void WithoutGilIfLarge(size_t bytes, Work&& work) {
  if (bytes > kGilReleaseBytes) {
    GilRelease released;
    work();
  } else {
    work();
  }
}

// Drops a reference on any thread. Once the interpreter is gone the object is leaked: nobody can
// take the lock any more.
void DropFromAnyThread(PyObject* object) noexcept;

// Runs `work`, foreign code that may need the lock, with the lock held; not at all once the
// interpreter is gone.
template <typename Work>
void WithGilFromAnyThread(Work&& work) noexcept {
  if (PyGILState_Check() == 1) {
    work();
  } else if (!InterpreterIsGone()) {
    GilEnsure held;
    work();
  }
}

// Keeps a Python object alive for a Buffer. Callable on any thread; once the interpreter is gone
// the reference is leaked.
extern const OwnerOps kPythonOwner;

// A buffer over memory that `owner` keeps alive; takes a new reference to it.
// REQUIRES: the lock is held.
inline Buffer BorrowedBuffer(void* data, size_t size, bool writable, PyObject* owner) noexcept {
  return Buffer(static_cast<uint8_t*>(data), size, writable, Py_NewRef(owner), &kPythonOwner);
}

// The Python object that keeps a buffer's bytes alive; nullptr if it is none.
inline PyObject* PythonOwnerOf(const Buffer& buffer) noexcept {
  return buffer.ops() == &kPythonOwner ? static_cast<PyObject*>(buffer.owner()) : nullptr;
}

// Drops the buffer's owner with the lock held, sparing the look whether it is.
inline void ReleaseWithGil(Buffer& buffer) noexcept {
  if (PythonOwnerOf(buffer) != nullptr) Py_DECREF(static_cast<PyObject*>(buffer.DetachOwner()));
}

}  // namespace hurray
