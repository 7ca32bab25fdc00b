// NumPy's way to let others allocate the data of arrays (NEP 49), and our allocator behind it.
#pragma once

#include <Python.h>

#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

// Makes the arrays that are created from now on, in the current context, use our allocator.
// Returns what RestoreMemoryHandler needs. Throws PythonError with an ImportError without NumPy,
// kUnsupported where it is older than 1.22.
Ref SetMemoryHandler(ModuleState& state);

// Sets the handler again that SetMemoryHandler replaced. Throws PythonError with a RuntimeError in
// another context than that one's.
void RestoreMemoryHandler(const ModuleState& state, PyObject* replaced);

}  // namespace hurray
