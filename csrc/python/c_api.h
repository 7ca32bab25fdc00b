// The helper functions that other extension modules find in hurray._core._C_API.
#pragma once

#include <Python.h>

#include "python/module_state.h"

namespace hurray {

int AddCApi(PyObject* module, ModuleState& state);

}  // namespace hurray
