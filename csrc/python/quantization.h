// The five quantization schemes as Python classes.
#pragma once

#include <Python.h>

#include "core/quantization.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

// Creates the classes and the module function decode_quantization.
int AddQuantization(PyObject* module, ModuleState& state);

// The scheme alone: bytes that followed its fields stay with the descriptor.
Ref QuantizationToPython(const ModuleState& state, const Quantization& quantization);
// Throws kInvalidDescriptor listing the scheme classes for anything else.
Quantization ToQuantization(const ModuleState& state, PyObject* object, std::string_view name);

}  // namespace hurray
