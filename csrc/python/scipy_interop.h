// SciPy's sparse matrices in and out, and COO tensors from their components.
#pragma once

#include <Python.h>

#include "python/module_state.h"

namespace hurray {

// Adds from_scipy and sparse_coo.
int AddScipyInterop(PyObject* module, ModuleState& state);

PyObject* Tensor_to_scipy(PyObject* self, PyObject*);
extern const char kTensorToScipyDoc[];

}  // namespace hurray
