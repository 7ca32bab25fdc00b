// How tensors print: set_print_options, get_print_options and the print_options block.
#pragma once

#include <Python.h>

#include "python/module_state.h"

namespace hurray {

int AddPrintOptions(PyObject* module, ModuleState& state);

// Sparse tensors show their components, not only what they are, in the current context.
bool ShowsSparseContent(const ModuleState& state);

}  // namespace hurray
