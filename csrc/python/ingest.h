// asarray: whatever a user has, as a tensor.
#pragma once

#include <Python.h>

#include <optional>

#include "core/element_type.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

int AddIngest(PyObject* module, ModuleState& state);

// asarray(object, dtype=dtype, copy=copy).
Ref AsTensor(ModuleState& state, PyObject* object, std::optional<ElementType> dtype,
             std::optional<bool> copy);

}  // namespace hurray
