// Functions that make tensors from nothing: zeros, ones, full, empty, what is like another tensor,
// arange, linspace, eye. None of them needs NumPy.
#pragma once

#include <Python.h>

#include "python/module_state.h"

namespace hurray {

int AddCreation(PyObject* module, ModuleState& state);

}  // namespace hurray
