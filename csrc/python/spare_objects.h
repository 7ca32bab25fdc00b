// Memory of dropped objects of one type, kept for the next ones.
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>

namespace hurray {

// What it keeps are no objects: they have no type and no references. For types with garbage
// collection and without items. REQUIRES: the lock is held.
class SpareObjects {
 public:
  // Memory for an object, untracked and without a value in it; nullptr if none is left.
  PyObject* Take() noexcept { return count_ == 0 ? nullptr : blocks_[--count_]; }
  // Keeps the memory of an untracked object that was destroyed; false leaves it to the caller.
  bool Keep(PyObject* block) noexcept {
    if (count_ == most_) return false;
    blocks_[count_++] = block;
    return true;
  }
  // Frees all of it, and keeps nothing any more.
  void Close() noexcept {
    most_ = 0;
    while (count_ > 0) PyObject_GC_Del(blocks_[--count_]);
  }
  // Memory of a module is zeroed rather than constructed: keeps nothing until this is called.
  void Open() noexcept { most_ = kMost; }

 private:
// Without the lock nothing protects them; and a sanitizer could not tell a new object from an old
// one.
#if defined(Py_GIL_DISABLED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr size_t kMost = 0;
#else
  static constexpr size_t kMost = 32;
#endif

  std::array<PyObject*, 32> blocks_;
  size_t count_;
  size_t most_;
};

}  // namespace hurray
