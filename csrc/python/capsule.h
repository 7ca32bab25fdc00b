// The `__hurray__` protocol: tensors of every kind handed over without a copy.
#pragma once

#include <Python.h>

#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

// Adds from_hurray.
int AddCapsule(PyObject* module, ModuleState& state);

// from_hurray(object).
Ref FromHurray(ModuleState& state, PyObject* object);

PyObject* Tensor_hurray(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
extern const char kTensorHurrayDoc[];

}  // namespace hurray
