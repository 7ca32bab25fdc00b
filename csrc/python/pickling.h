// Pickle and copy for the types that hold memory or Python objects.
#pragma once

#include <Python.h>

#include "python/module_state.h"

namespace hurray {

// Adds the module's private functions that unpickling calls.
int AddPickling(PyObject* module, ModuleState& state);

PyObject* Tensor_reduce_ex(PyObject* self, PyObject* protocol);
PyObject* Tensor_copy(PyObject* self, PyObject*);
PyObject* Tensor_deepcopy(PyObject* self, PyObject* memo);
PyObject* Composite_reduce(PyObject* self, PyObject*);
PyObject* Composite_deepcopy(PyObject* self, PyObject* memo);
PyObject* Descriptor_reduce(PyObject* self, PyObject*);
PyObject* Device_reduce(PyObject* self, PyObject*);
PyObject* BufferHandle_reduce(PyObject* self, PyObject*);

}  // namespace hurray
