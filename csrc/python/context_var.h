// Blocks that set a context variable and restore it where they end.
#pragma once

#include <Python.h>

#include <string_view>

#include "core/str_cat.h"
#include "python/errors.h"
#include "python/ref.h"

namespace hurray {

// Restores what a context variable was before the block of that name began. Throws PythonError with
// a RuntimeError in another thread or task than the one where it began.
inline void ResetContextVar(PyObject* variable, PyObject* token, std::string_view block) {
  if (PyContextVar_Reset(variable, token) == 0) return;
  if (PyErr_ExceptionMatches(PyExc_ValueError) == 0) throw PythonError();
  ThrowPythonFromPending(PyExc_RuntimeError,
                         StrCat("this ", block,
                                " block was entered in another thread or task, and can be left "
                                "only there"));
}

}  // namespace hurray
