// Objects that one thread at a time may be inside of.
#pragma once

#include <Python.h>

#include <atomic>
#include <string>

#include "python/errors.h"

namespace hurray {

// Holds `busy` while it lives; RuntimeError if another thread does.
class Exclusive {
 public:
  Exclusive(std::atomic<bool>& busy, const char* what) : busy_(busy) {
    if (busy_.exchange(true, std::memory_order_acquire)) {
      ThrowPython(PyExc_RuntimeError, StrCat("the ", what, " is in use by another thread"));
    }
  }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;
  ~Exclusive() { busy_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool>& busy_;
};

}  // namespace hurray
