// Python values in and out: every conversion between Python and the core's types is here.
#pragma once

#include <Python.h>

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/shape.h"
#include "core/small_vector.h"
#include "python/errors.h"
#include "python/ref.h"

namespace hurray {

// ---- calls

namespace internal {

// The names of a signature, without its length in the type.
struct SignatureView {
  const char* function;
  const std::string_view* names;
  size_t count;
  size_t positional;  // how many may be given by position
  size_t required;    // how many, counted from the first, must be given
};

// Handles whatever is not "the right number of positional arguments and no keyword".
void BindSlow(const SignatureView& signature, PyObject* const* args, size_t positional_count,
              PyObject* kwnames, PyObject** bound);

}  // namespace internal

// The parameters of one callable. Bind() takes what a vectorcall hands over and gives one borrowed
// reference per parameter, null where it was left out.
template <size_t N>
class Signature {
 public:
  // All parameters required and accepted by position, unless said otherwise.
  constexpr Signature(const char* function, const char* const (&names)[N], size_t required = N,
                      size_t positional = N)
      : function_(function), required_(required), positional_(positional) {
    for (size_t i = 0; i < N; ++i) names_[i] = names[i];
  }

  std::array<PyObject*, N> Bind(PyObject* const* args, size_t nargsf, PyObject* kwnames) const {
    std::array<PyObject*, N> bound{};
    auto count = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
    if (kwnames == nullptr && count >= required_ && count <= positional_) {
      for (size_t i = 0; i < count; ++i) bound[i] = args[i];
    } else {
      internal::BindSlow({function_, names_, N, positional_, required_}, args, count, kwnames,
                         bound.data());
    }
    return bound;
  }
  // For METH_FASTCALL | METH_KEYWORDS, whose count carries no flag.
  std::array<PyObject*, N> Bind(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) const {
    return Bind(args, static_cast<size_t>(nargs), kwnames);
  }

 private:
  const char* function_;
  std::string_view names_[N] = {};
  size_t required_;
  size_t positional_;
};

// No parameters at all.
template <>
class Signature<0> {
 public:
  constexpr explicit Signature(const char* function) : function_(function) {}
  std::array<PyObject*, 0> Bind(PyObject* const* args, size_t nargsf, PyObject* kwnames) const {
    internal::BindSlow({function_, nullptr, 0, 0, 0}, args,
                       static_cast<size_t>(PyVectorcall_NARGS(nargsf)), kwnames, nullptr);
    return {};
  }

 private:
  const char* function_;
};

// tp_new for types that are built by tp_vectorcall.
PyObject* NewByVectorcall(PyTypeObject* type, PyObject* args, PyObject* kwargs);

// What PyMethodDef and PyType_Slot want, from a function of the right kind.
template <typename Function>
PyCFunction Method(Function* function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}
template <typename Function>
void* Slot(Function* function) noexcept {
  return reinterpret_cast<void*>(function);
}

// A METH_FASTCALL | METH_KEYWORDS function around one that takes its only argument: by position or
// by the name in the signature.
template <const Signature<1>& kSignature, PyObject* (*kFunction)(PyObject*, PyObject*)>
PyObject* OneArgument(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  try {
    return kFunction(self, kSignature.Bind(args, nargs, kwnames)[0]);
  } catch (const PythonError&) {  // what binding throws; the function itself throws nothing
    return nullptr;
  }
}

// nullptr for a parameter that was left out or is None.
inline PyObject* NoneToNull(PyObject* object) noexcept {
  return object == Py_None ? nullptr : object;
}

// ---- Python to core. Each throws PythonError or Error naming the parameter.

// Integers go through __index__. TypeError for what has none (a float, a str); OverflowError
// outside the type's range.
template <typename Integer>
Integer ToInteger(PyObject* object, std::string_view name);
extern template uint8_t ToInteger(PyObject*, std::string_view);
extern template uint32_t ToInteger(PyObject*, std::string_view);
extern template uint64_t ToInteger(PyObject*, std::string_view);
extern template int32_t ToInteger(PyObject*, std::string_view);
extern template int64_t ToInteger(PyObject*, std::string_view);

// Only True, False and NumPy's bools.
bool ToBool(PyObject* object, std::string_view name);
// The same, and None (or an absent argument): nullopt.
std::optional<bool> ToOptionalBool(PyObject* object, std::string_view name);

// A real number as a double: TypeError for what float() refuses, and for text.
double ToDouble(PyObject* object, std::string_view name);
// A number as a complex one: TypeError for what complex() refuses, and for text.
std::complex<double> ToComplex(PyObject* object, std::string_view name);

// UTF-8 of a str, valid while the object lives; of one that UTF-8 cannot express (it has a lone
// surrogate), a text that is no UTF-8 and so equals no name.
std::string_view ToText(PyObject* object, std::string_view name);

// One of a fixed set of names, told by `of`. TypeError for what is no str, ValueError giving
// `choices` for any other text.
template <typename Enum>
Enum ToChoice(PyObject* object, std::string_view name,
              std::optional<Enum> (*of)(std::string_view) noexcept, std::string_view choices) {
  std::string_view text = ToText(object, name);
  if (auto choice = of(text)) return *choice;
  ThrowValueError(StrCat(name, " is ", ReprText(object), ", it must be ", choices));
}

// A copy of any contiguous bytes-like object; TypeError for anything else.
std::vector<uint8_t> ToBytes(PyObject* object, std::string_view name);

// Any sequence of integers: list, tuple, range, 1-D array. TypeError for str, bytes, sets,
// iterators and lone integers.
template <typename Integer>
std::vector<Integer> ToIntegers(PyObject* object, std::string_view name);
extern template std::vector<uint32_t> ToIntegers(PyObject*, std::string_view);
extern template std::vector<uint64_t> ToIntegers(PyObject*, std::string_view);
extern template std::vector<int64_t> ToIntegers(PyObject*, std::string_view);

// One extent: an integer >= 0. Throws kInvalidDescriptor for a negative one and for the reserved
// 2^64-1. `hint` ends the message.
uint64_t ToExtent(PyObject* object, std::string_view name, std::string_view hint = "");
// A shape: integers >= 0, None for a dynamic dimension. Throws kInvalidDescriptor for a negative
// extent or a rank above 64.
Shape ToShape(PyObject* object, std::string_view name);
// A shape without None, whose entries break the rules of `what` if they are negative.
Shape ToStaticExtents(PyObject* object, std::string_view name);
// One index per dimension. TypeError unless there are `rank`, kOutOfRange for negative ones.
SmallVector<uint64_t, 8> ToIndex(PyObject* object, size_t rank);

// Calls `visit(i, item)` for each item of a sequence, holding a reference to it. TypeError for
// what is no sequence, for str, bytes and bytearray.
template <typename Visit>
void ForEachItem(PyObject* sequence, std::string_view name, Visit&& visit);
// The items as a list or tuple that nobody else changes. The building block of the above.
Ref ToTupleOfItems(PyObject* sequence, std::string_view name);

// The bytes of any C-contiguous buffer-protocol object, held while this lives.
class BytesView {
 public:
  // Throws `code` where the object has no such bytes; `name` is for the message. kOverflow's
  // place is taken by TypeError: pass nullopt to get it.
  BytesView(PyObject* object, std::string_view name, std::optional<ErrorCode> code);
  BytesView(const BytesView&) = delete;
  BytesView& operator=(const BytesView&) = delete;
  ~BytesView() { PyBuffer_Release(&view_); }
  std::span<const uint8_t> bytes() const noexcept {
    return {static_cast<const uint8_t*>(view_.buf), static_cast<size_t>(view_.len)};
  }
  bool writable() const noexcept { return view_.readonly == 0; }

 private:
  Py_buffer view_;
};

// ---- core to Python

inline Ref ToPython(uint64_t value) { return Ref::Steal(PyLong_FromUnsignedLongLong(value)); }
inline Ref ToPython(int64_t value) { return Ref::Steal(PyLong_FromLongLong(value)); }
inline Ref ToPython(uint32_t value) { return Ref::Steal(PyLong_FromUnsignedLong(value)); }
inline Ref ToPython(int32_t value) { return Ref::Steal(PyLong_FromLong(value)); }
inline Ref ToPython(uint8_t value) { return Ref::Steal(PyLong_FromLong(value)); }
inline Ref ToPython(bool value) { return Ref::Borrow(value ? Py_True : Py_False); }
inline Ref ToPython(double value) { return Ref::Steal(PyFloat_FromDouble(value)); }
inline Ref ToPython(std::string_view text) {
  return Ref::Steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}
template <typename T>
Ref ToPython(const std::optional<T>& value) {
  return value ? ToPython(*value) : Ref::None();
}

template <typename T>
Ref ToTuple(std::span<const T> values) {
  Ref tuple = Ref::Steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), ToPython(values[i]).release());
  }
  return tuple;
}
template <typename T, size_t N>
Ref ToTuple(const SmallVector<T, N>& values) {
  return ToTuple(std::span<const T>(values.data(), values.size()));
}
// None where an extent is dynamic.
Ref ShapeToTuple(ShapeView shape);
Ref BytesToPython(std::span<const uint8_t> bytes);

// ---- templates

template <typename Visit>
void ForEachItem(PyObject* sequence, std::string_view name, Visit&& visit) {
  Ref items = ToTupleOfItems(sequence, name);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    visit(static_cast<size_t>(i), PyTuple_GET_ITEM(items.get(), i));
  }
}

}  // namespace hurray
