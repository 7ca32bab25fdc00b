// hurray.File and hurray.open.
#pragma once

#include <Python.h>

#include "python/module_state.h"

namespace hurray {

int AddFile(PyObject* module, ModuleState& state);

}  // namespace hurray
