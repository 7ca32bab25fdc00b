// hurray.Descriptor: an immutable picture of a descriptor.
#pragma once

#include <Python.h>

#include "core/descriptor.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

int AddDescriptor(PyObject* module, ModuleState& state);

// `device` is the Device object that it shows; it takes a reference of its own.
Ref DescriptorToPython(ModuleState& state, TensorDescriptor descriptor, PyObject* device);

// ---- what a Descriptor and a Tensor tell in the same way

// Element count as a Python int of any size; None if a dimension is dynamic.
Ref SizeToPython(ShapeView shape);
// A tuple of BufferHandle, all showing the same Device object.
Ref HandlesToTuple(ModuleState& state, std::span<const BufferHandle> handles, PyObject* device);

// The optional sections as Python objects, None where absent.
Ref QuantizationOf(ModuleState& state, const TensorDescriptor& descriptor);
Ref StatisticsOf(ModuleState& state, const TensorDescriptor& descriptor);
Ref ShardOf(ModuleState& state, const TensorDescriptor& descriptor);
Ref ExtensionTypeOf(ModuleState& state, const TensorDescriptor& descriptor);

}  // namespace hurray
