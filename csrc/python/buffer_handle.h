// hurray.BufferHandle: one row of a buffer table.
#pragma once

#include <Python.h>

#include <span>

#include "core/buffer_handle.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

int AddBufferHandle(PyObject* module, ModuleState& state);

// `device` is the Device object that the handle shows; it takes a reference of its own.
Ref BufferHandleToPython(ModuleState& state, const BufferHandle& handle, PyObject* device);

// REQUIRES: a BufferHandle object.
const BufferHandle& BufferHandleOf(PyObject* object) noexcept;

}  // namespace hurray
