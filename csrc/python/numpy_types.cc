#include "python/numpy_types.h"

#include <string_view>

#include "python/arguments.h"
#include "python/array_interop.h"
#include "python/errors.h"

namespace hurray {

namespace {

struct MlPair {
  ElementType element;
  const char* type_name;  // tp_name of the scalar type
  const char* attribute;  // its name in ml_dtypes
};

constexpr MlPair kMlPairs[] = {
    {ElementTypes::kBfloat16, "ml_dtypes.bfloat16", "bfloat16"},
    {ElementTypes::kFloat8E4M3, "ml_dtypes.float8_e4m3fn", "float8_e4m3fn"},
    {ElementTypes::kFloat8E5M2, "ml_dtypes.float8_e5m2", "float8_e5m2"},
    {ElementTypes::kFloat8E8M0, "ml_dtypes.float8_e8m0fnu", "float8_e8m0fnu"},
    {ElementTypes::kInt4, "ml_dtypes.int4", "int4"},
    {ElementTypes::kUint4, "ml_dtypes.uint4", "uint4"},
    {ElementTypes::kInt2, "ml_dtypes.int2", "int2"},
    {ElementTypes::kUint2, "ml_dtypes.uint2", "uint2"},
    {ElementTypes::kFloat4E2M1, "ml_dtypes.float4_e2m1fn", "float4_e2m1fn"},
    {ElementTypes::kFloat6E2M3, "ml_dtypes.float6_e2m3fn", "float6_e2m3fn"},
    {ElementTypes::kFloat6E3M2, "ml_dtypes.float6_e3m2fn", "float6_e3m2fn"},
};

}  // namespace

std::optional<ArrayElement> ArrayElementOf(PyArray_Descr* descr) noexcept {
  if (auto element = SameFormOf(descr->type_num)) return ArrayElement{*element, false};
  if (descr->type_num == NPY_BOOL) return ArrayElement{ElementTypes::kBool, true};
  if (descr->type_num < NPY_USERDEF) return std::nullopt;
  std::string_view name = descr->typeobj->tp_name;
  for (const MlPair& pair : kMlPairs) {
    if (name == pair.type_name) return ArrayElement{pair.element, pair.element.is_sub_byte()};
  }
  return std::nullopt;
}

std::optional<int> NumpyTypeOf(ElementType type) noexcept {
  for (const internal::NumpyPair& pair : internal::kNumpyPairs) {
    if (pair.element == type) return pair.numpy;
  }
  return std::nullopt;
}

Ref ArrayDtypeOf(ElementType type) {
  if (auto number = NumpyTypeOf(type)) {
    return Ref::Steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(*number)));
  }
  for (const MlPair& pair : kMlPairs) {
    if (pair.element != type || type.is_sub_byte()) continue;
    Ref module = Ref::StealOrNull(PyImport_ImportModule("ml_dtypes"));
    if (!module) {
      if (!ClearIf(PyExc_ImportError)) throw PythonError();
      throw Error(ErrorCode::kUnsupported, StrCat("dtype ", type.name(),
                                                  " has no NumPy equivalent; install ml_dtypes for "
                                                  "an array of it, or use to_torch()"));
    }
    Ref scalar = Ref::Steal(PyObject_GetAttrString(module.get(), pair.attribute));
    PyArray_Descr* descr = nullptr;
    if (PyArray_DescrConverter(scalar.get(), &descr) == NPY_FAIL) throw PythonError();
    return Ref::Steal(reinterpret_cast<PyObject*>(descr));
  }
  return Ref();
}

std::string DtypeText(PyArray_Descr* descr) {
  Ref text = Ref::Steal(PyObject_Str(reinterpret_cast<PyObject*>(descr)));
  return std::string(ToText(text.get(), "dtype"));
}

}  // namespace hurray
