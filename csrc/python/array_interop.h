// NumPy arrays in and out.
#pragma once

#include <Python.h>

#include <optional>
#include <string_view>

#include "core/element_type.h"
#include "core/shape.h"
#include "python/module_state.h"
#include "python/ref.h"
#include "storage/buffer.h"

namespace hurray {

int AddArrayInterop(PyObject* module, ModuleState& state);

// NumPy's type number of the types that NumPy itself has; nullopt for all others. bool is not
// among them: the format packs its bits.
std::optional<int> NumpyTypeOf(ElementType type) noexcept;

// The extents of an array.
Shape ShapeOfArray(PyObject* array);

// Throws kBuffer unless `object` is a NumPy array, kUnsupported for a masked one, PythonError
// without NumPy. Returns it.
PyObject* RequireArray(PyObject* object, std::string_view name);

// The elements of an array, shared or copied (or packed) as `copy` says. Throws as from_numpy
// does; `name` is for the message.
struct TakenArray {
  ElementType element;
  Buffer buffer;
};
TakenArray TakeArray(PyObject* array, std::optional<bool> copy, std::string_view name);

// What is usual, shared: exactly an ndarray, with elements in the format's own form and order, at
// a multiple of 64. Null for all else, of which nothing is said.
Ref TryShareAtOnce(ModuleState& state, PyObject* object);

// from_numpy(object, copy=copy).
Ref WrapArray(ModuleState& state, PyObject* object, std::optional<bool> copy);
// The same for plain arrays that from_numpy accepts; nullopt for everything else.
std::optional<Ref> TryShareArray(ModuleState& state, PyObject* object, std::optional<bool> copy);

// An array over a dense tensor's memory (row-major, column-major or strided, static shape) that
// keeps the tensor alive; a new, unpacked one for bool. Throws as `__array__` does.
Ref TensorToArray(PyObject* tensor);

}  // namespace hurray
