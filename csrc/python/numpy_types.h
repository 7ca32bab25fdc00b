// NumPy's dtypes and the format's element types, both ways, those of ml_dtypes included.
#pragma once

#include <Python.h>

#include <array>
#include <optional>
#include <string>
#include <type_traits>

#include "core/element_type.h"
#include "python/numpy_api.h"
#include "python/ref.h"

namespace hurray {

namespace internal {

struct NumpyPair {
  ElementType element;
  int numpy;
};

// Types that NumPy holds in the same form.
inline constexpr NumpyPair kNumpyPairs[] = {
    {ElementTypes::kFloat16, NPY_HALF},       {ElementTypes::kFloat32, NPY_FLOAT},
    {ElementTypes::kFloat64, NPY_DOUBLE},     {ElementTypes::kInt8, NPY_INT8},
    {ElementTypes::kUint8, NPY_UINT8},        {ElementTypes::kInt16, NPY_INT16},
    {ElementTypes::kUint16, NPY_UINT16},      {ElementTypes::kInt32, NPY_INT32},
    {ElementTypes::kUint32, NPY_UINT32},      {ElementTypes::kInt64, NPY_INT64},
    {ElementTypes::kUint64, NPY_UINT64},      {ElementTypes::kComplex64, NPY_CFLOAT},
    {ElementTypes::kComplex128, NPY_CDOUBLE},
};

template <typename Integer>
constexpr ElementType IntegerType() noexcept {
  constexpr bool kSigned = std::is_signed_v<Integer>;
  switch (sizeof(Integer)) {
    case 1:
      return kSigned ? ElementTypes::kInt8 : ElementTypes::kUint8;
    case 2:
      return kSigned ? ElementTypes::kInt16 : ElementTypes::kUint16;
    case 4:
      return kSigned ? ElementTypes::kInt32 : ElementTypes::kUint32;
    default:
      return kSigned ? ElementTypes::kInt64 : ElementTypes::kUint64;
  }
}

// By type number, of which NumPy has several for one integer type.
inline constexpr auto kSameForm = [] {
  std::array<std::optional<ElementType>, NPY_HALF + 1> types{};
  for (const NumpyPair& pair : kNumpyPairs) types[static_cast<size_t>(pair.numpy)] = pair.element;
  types[NPY_BYTE] = IntegerType<npy_byte>();
  types[NPY_UBYTE] = IntegerType<npy_ubyte>();
  types[NPY_SHORT] = IntegerType<npy_short>();
  types[NPY_USHORT] = IntegerType<npy_ushort>();
  types[NPY_INT] = IntegerType<npy_int>();
  types[NPY_UINT] = IntegerType<npy_uint>();
  types[NPY_LONG] = IntegerType<npy_long>();
  types[NPY_ULONG] = IntegerType<npy_ulong>();
  types[NPY_LONGLONG] = IntegerType<npy_longlong>();
  types[NPY_ULONGLONG] = IntegerType<npy_ulonglong>();
  return types;
}();

}  // namespace internal

// How an array holds the elements of a type.
struct ArrayElement {
  ElementType type;
  // A byte per element where the format packs several into one (bool, int4, …).
  bool is_unpacked;
};

// By NumPy's type number: the types whose elements NumPy holds in the same form, in native order.
inline std::optional<ElementType> SameFormOf(int type_number) noexcept {
  auto index = static_cast<size_t>(type_number);
  return index < internal::kSameForm.size() ? internal::kSameForm[index] : std::nullopt;
}

// nullopt for dtypes without an equivalent. Says nothing about byte order.
std::optional<ArrayElement> ArrayElementOf(PyArray_Descr* descr) noexcept;

// The dtype for an array over the memory of a type of whole bytes: NumPy's own, or that of
// ml_dtypes for bfloat16 and float8. nullptr (no error set) for types that neither has. Throws
// kUnsupported naming ml_dtypes if that is needed and not installed.
Ref ArrayDtypeOf(ElementType type);

// "float32", for messages.
std::string DtypeText(PyArray_Descr* descr);

}  // namespace hurray
