// Signals and progress while the core works without the GIL.
#pragma once

#include <Python.h>

#include <chrono>
#include <utility>

#include "io/checkpoint.h"
#include "python/gil.h"
#include "python/ref.h"

namespace hurray {

// A Checkpoint that lets Ctrl-C through and calls `progress(bytes_done, bytes_total)` (null: does
// not). What either raises is thrown as PythonError. `progress` must outlive it.
inline Checkpoint Watch(PyObject* progress = nullptr) {
  using Clock = std::chrono::steady_clock;
  // Whoever holds the GIL may keep us waiting for 5 ms, so we ask for it seldom.
  static constexpr auto kPatience = std::chrono::milliseconds(100);
  return Checkpoint([progress, last = Clock::now()](const Checkpoint& work) mutable {
    Clock::time_point now = Clock::now();
    if (progress == nullptr && !work.is_interrupted() && now - last < kPatience) return;
    last = now;
    GilEnsure held;
    Checked(PyErr_CheckSignals());
    if (progress != nullptr) {
      Ref::Steal(PyObject_CallFunction(progress, "KK",
                                       static_cast<unsigned long long>(work.bytes_done()),
                                       static_cast<unsigned long long>(work.bytes_total())));
    }
  });
}

}  // namespace hurray
