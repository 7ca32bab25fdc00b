// hurray.Dtype: one singleton per element type.
#pragma once

#include <Python.h>

#include "core/element_type.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

// Creates the type and all its singletons, and the module function buffer_size_bytes.
int AddDtype(PyObject* module, ModuleState& state);

// The singleton, borrowed: it lives as long as the module.
inline PyObject* DtypeObjectOf(const ModuleState& state, ElementType type) noexcept {
  return state.dtypes[type.tag()];
}
// REQUIRES: IsDtype(state, object).
ElementType ElementTypeOf(PyObject* dtype) noexcept;
inline bool IsDtype(const ModuleState& state, PyObject* object) noexcept {
  return Py_TYPE(object) == AsType(state.dtype_type);
}
// Throws TypeError for everything but a Dtype, naming the right spelling of a wrong one.
ElementType ToElementType(const ModuleState& state, PyObject* object, std::string_view name);
// What ToElementType says to a wrong value.
std::string NotADtypeMessage(PyObject* object, std::string_view name);

}  // namespace hurray
