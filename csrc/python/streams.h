// hurray.StreamReader and hurray.StreamWriter.
#pragma once

#include <Python.h>

#include "python/module_state.h"

namespace hurray {

int AddStreamReader(PyObject* module, ModuleState& state);
int AddStreamWriter(PyObject* module, ModuleState& state);

}  // namespace hurray
