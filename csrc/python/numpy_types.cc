#include "python/numpy_types.h"

#include <string_view>

#include "python/arguments.h"
#include "python/array_interop.h"
#include "python/errors.h"

namespace hurray {

namespace {

struct NumpyPair {
  ElementType element;
  int numpy;
};

// Types that NumPy holds in the same form.
constexpr NumpyPair kNumpyPairs[] = {
    {ElementTypes::kFloat16, NPY_HALF},       {ElementTypes::kFloat32, NPY_FLOAT},
    {ElementTypes::kFloat64, NPY_DOUBLE},     {ElementTypes::kInt8, NPY_INT8},
    {ElementTypes::kUint8, NPY_UINT8},        {ElementTypes::kInt16, NPY_INT16},
    {ElementTypes::kUint16, NPY_UINT16},      {ElementTypes::kInt32, NPY_INT32},
    {ElementTypes::kUint32, NPY_UINT32},      {ElementTypes::kInt64, NPY_INT64},
    {ElementTypes::kUint64, NPY_UINT64},      {ElementTypes::kComplex64, NPY_CFLOAT},
    {ElementTypes::kComplex128, NPY_CDOUBLE},
};

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

std::optional<ElementType> SignedOfWidth(npy_intp bytes) noexcept {
  switch (bytes) {
    case 1:
      return ElementTypes::kInt8;
    case 2:
      return ElementTypes::kInt16;
    case 4:
      return ElementTypes::kInt32;
    case 8:
      return ElementTypes::kInt64;
    default:
      return std::nullopt;
  }
}

std::optional<ElementType> UnsignedOfWidth(npy_intp bytes) noexcept {
  switch (bytes) {
    case 1:
      return ElementTypes::kUint8;
    case 2:
      return ElementTypes::kUint16;
    case 4:
      return ElementTypes::kUint32;
    case 8:
      return ElementTypes::kUint64;
    default:
      return std::nullopt;
  }
}

// By kind and width: NumPy has several type numbers for one integer type.
std::optional<ElementType> BuiltInOf(PyArray_Descr* descr) noexcept {
  if (descr->type_num == NPY_BOOL) return ElementTypes::kBool;
  if (PyTypeNum_ISINTEGER(descr->type_num)) {
    npy_intp width = PyDataType_ELSIZE(descr);
    return PyTypeNum_ISSIGNED(descr->type_num) ? SignedOfWidth(width) : UnsignedOfWidth(width);
  }
  for (const NumpyPair& pair : kNumpyPairs) {
    if (pair.numpy == descr->type_num) return pair.element;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ArrayElement> ArrayElementOf(PyArray_Descr* descr) noexcept {
  if (auto element = BuiltInOf(descr)) return ArrayElement{*element, element->is_sub_byte()};
  if (descr->type_num < NPY_USERDEF) return std::nullopt;
  std::string_view name = descr->typeobj->tp_name;
  for (const MlPair& pair : kMlPairs) {
    if (name == pair.type_name) return ArrayElement{pair.element, pair.element.is_sub_byte()};
  }
  return std::nullopt;
}

std::optional<int> NumpyTypeOf(ElementType type) noexcept {
  for (const NumpyPair& pair : kNumpyPairs) {
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
