// PyTorch: found at call time, never needed to import hurray.
#pragma once

#include <Python.h>

#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

// The torch module. Throws PythonError with the ImportError of `import torch`.
Ref RequireTorch();

PyObject* Tensor_to_torch(PyObject* self, PyObject*);
extern const char kTensorToTorchDoc[];

}  // namespace hurray
