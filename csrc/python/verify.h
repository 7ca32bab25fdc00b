// hurray.verify and its report.
#pragma once

#include <Python.h>

#include "python/module_state.h"

namespace hurray {

int AddVerify(PyObject* module, ModuleState& state);

}  // namespace hurray
