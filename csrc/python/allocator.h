// aligned_allocator() and what users see of the allocator (api section 10 and 17a).
#pragma once

#include <Python.h>

#include "python/module_state.h"

namespace hurray {

int AddAllocator(PyObject* module, ModuleState& state);

}  // namespace hurray
