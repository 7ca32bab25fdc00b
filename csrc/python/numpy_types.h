// NumPy's dtypes and the format's element types, both ways, those of ml_dtypes included.
#pragma once

#include <Python.h>

#include <optional>
#include <string>

#include "core/element_type.h"
#include "python/numpy_api.h"
#include "python/ref.h"

namespace hurray {

// How an array holds the elements of a type.
struct ArrayElement {
  ElementType type;
  // A byte per element where the format packs several into one (bool, int4, …).
  bool is_unpacked;
};

// nullopt for dtypes without an equivalent. Says nothing about byte order.
std::optional<ArrayElement> ArrayElementOf(PyArray_Descr* descr) noexcept;

// The dtype for an array over the memory of a type of whole bytes: NumPy's own, or that of
// ml_dtypes for bfloat16 and float8. nullptr (no error set) for types that neither has. Throws
// kUnsupported naming ml_dtypes if that is needed and not installed.
Ref ArrayDtypeOf(ElementType type);

// "float32", for messages.
std::string DtypeText(PyArray_Descr* descr);

}  // namespace hurray
