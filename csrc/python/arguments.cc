#include "python/arguments.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace hurray {

namespace internal {

namespace {

std::string Quoted(std::string_view name) { return StrCat("'", name, "'"); }

// Whether two texts of one length are equal. Names are short: two words, which may overlap, cover
// most of them in less time than it takes to call memcmp.
bool IsSame(const char* a, const char* b, size_t length) noexcept {
  auto same_words = [&]<typename Word>(Word) {
    Word first[2], last[2];
    std::memcpy(&first[0], a, sizeof(Word));
    std::memcpy(&first[1], b, sizeof(Word));
    std::memcpy(&last[0], a + length - sizeof(Word), sizeof(Word));
    std::memcpy(&last[1], b + length - sizeof(Word), sizeof(Word));
    return first[0] == first[1] && last[0] == last[1];
  };
  if (length > 16) return std::memcmp(a, b, length) == 0;
  if (length >= 8) return same_words(uint64_t{});
  if (length >= 4) return same_words(uint32_t{});
  return std::memcmp(a, b, length) == 0;
}

[[noreturn]] void ThrowTooManyPositional(const SignatureView& signature, size_t given) {
  ThrowTypeError(StrCat(signature.function, "() takes at most ", signature.positional,
                        " positional argument(s) (", given, " given)"));
}

size_t FindParameter(const SignatureView& signature, PyObject* keyword) {
  // Names are ASCII, and so is nearly every keyword; its length tells most names apart.
  if (PyUnicode_IS_COMPACT_ASCII(keyword) != 0) {
    const auto* given = static_cast<const char*>(PyUnicode_DATA(keyword));
    auto length = static_cast<size_t>(PyUnicode_GET_LENGTH(keyword));
    for (size_t i = 0; i < signature.count; ++i) {
      std::string_view name = signature.names[i];
      if (name.size() == length && IsSame(name.data(), given, length)) return i;
    }
  } else {  // not even an instance of a subclass has its text within itself
    for (size_t i = 0; i < signature.count; ++i) {
      if (PyUnicode_CompareWithASCIIString(keyword, signature.names[i].data()) == 0) return i;
    }
  }
  std::string text = "?";
  if (const char* utf8 = PyUnicode_AsUTF8(keyword)) {
    text = utf8;
  } else {
    PyErr_Clear();  // a lone surrogate; the message can do without it
  }
  ThrowTypeError(StrCat(signature.function, "() got an unexpected keyword argument '", text, "'"));
}

}  // namespace

void BindSlow(const SignatureView& signature, PyObject* const* args, size_t positional_count,
              PyObject* kwnames, PyObject** bound) {
  if (positional_count > signature.positional) {
    ThrowTooManyPositional(signature, positional_count);
  }
  for (size_t i = 0; i < positional_count; ++i) bound[i] = args[i];
  Py_ssize_t keyword_count = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t k = 0; k < keyword_count; ++k) {
    size_t parameter = FindParameter(signature, PyTuple_GET_ITEM(kwnames, k));
    if (bound[parameter] != nullptr) {
      ThrowTypeError(StrCat(signature.function, "() got multiple values for argument ",
                            Quoted(signature.names[parameter])));
    }
    bound[parameter] = args[positional_count + static_cast<size_t>(k)];
  }
  for (size_t i = 0; i < signature.required; ++i) {
    if (bound[i] == nullptr) {
      ThrowTypeError(
          StrCat(signature.function, "() missing required argument ", Quoted(signature.names[i])));
    }
  }
}

}  // namespace internal

namespace {

// The integer an object stands for, by __index__.
Ref ToIndexObject(PyObject* object, std::string_view name) {
  if (PyLong_CheckExact(object)) return Ref::Borrow(object);
  PyObject* index = PyNumber_Index(object);
  if (index == nullptr && ClearIf(PyExc_TypeError)) {
    ThrowTypeError(StrCat(name, " must be an integer, not ", TypeName(object)));
  }
  return Ref::Steal(index);
}

// The digits of an integer, for messages; of one too long to be read, its size.
std::string IntegerText(PyObject* integer) {
  constexpr double kReadable = 1e40;
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
  if (overflow == 0) return StrCat(value);
  double size = PyLong_AsDouble(integer);
  if (size == -1.0 && PyErr_Occurred() != nullptr) {
    if (!ClearIf(PyExc_OverflowError)) throw PythonError();
    return overflow < 0 ? "below -10^308" : "above 10^308";
  }
  if (std::fabs(size) > kReadable) return StrCat("about ", size);
  Ref digits = Ref::Steal(PyLong_Type.tp_repr(integer));  // a subclass may have another
  return std::string(ToText(digits.get(), "integer"));
}

[[noreturn]] void ThrowOutOfRange(std::string_view name, PyObject* integer,
                                  const std::string& least, const std::string& most) {
  ThrowOverflowError(
      StrCat(name, " is ", IntegerText(integer), ", it must be from ", least, " to ", most));
}

bool IsText(PyObject* object) {
  return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object);
}

}  // namespace

PyObject* NewByVectorcall(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return PyObject_VectorcallDict(reinterpret_cast<PyObject*>(type), PySequence_Fast_ITEMS(args),
                                 static_cast<size_t>(PyTuple_GET_SIZE(args)), kwargs);
}

template <typename Integer>
Integer ToInteger(PyObject* object, std::string_view name) {
  using Limits = std::numeric_limits<Integer>;
  if (std::is_signed_v<Integer> && PyLong_CheckExact(object)) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0 && std::in_range<Integer>(value)) return static_cast<Integer>(value);
  }
  Ref index = ToIndexObject(object, name);
  auto refuse = [&] {
    ThrowOutOfRange(name, index.get(), StrCat(+Limits::min()), StrCat(+Limits::max()));
  };
  if constexpr (std::is_signed_v<Integer> || sizeof(Integer) < 8) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
    if (overflow != 0 || value < static_cast<long long>(Limits::min()) ||
        value > static_cast<long long>(Limits::max())) {
      refuse();
    }
    return static_cast<Integer>(value);
  } else {
    unsigned long long value = PyLong_AsUnsignedLongLong(index.get());
    if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
      if (!ClearIf(PyExc_OverflowError)) throw PythonError();
      refuse();
    }
    return static_cast<Integer>(value);
  }
}
template uint8_t ToInteger(PyObject*, std::string_view);
template uint32_t ToInteger(PyObject*, std::string_view);
template uint64_t ToInteger(PyObject*, std::string_view);
template int32_t ToInteger(PyObject*, std::string_view);
template int64_t ToInteger(PyObject*, std::string_view);

bool ToBool(PyObject* object, std::string_view name) {
  if (object == Py_True) return true;
  if (object == Py_False) return false;
  // NumPy's own bools, told by their type's name so that NumPy need not be loaded.
  const char* type = Py_TYPE(object)->tp_name;
  if (std::strcmp(type, "numpy.bool") == 0 || std::strcmp(type, "numpy.bool_") == 0) {
    return Checked(PyObject_IsTrue(object)) == 1;
  }
  ThrowTypeError(StrCat(name, " must be True or False, not ", TypeName(object)));
}

std::optional<bool> ToOptionalBool(PyObject* object, std::string_view name) {
  if (object == nullptr || object == Py_None) return std::nullopt;
  return ToBool(object, name);
}

double ToDouble(PyObject* object, std::string_view name) {
  double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    if (ClearIf(PyExc_TypeError)) {
      ThrowTypeError(StrCat(name, " must be a real number, not ", TypeName(object)));
    }
    throw PythonError();
  }
  return value;
}

std::complex<double> ToComplex(PyObject* object, std::string_view name) {
  Py_complex value = PyComplex_AsCComplex(object);
  if (value.real == -1.0 && PyErr_Occurred() != nullptr) {
    if (ClearIf(PyExc_TypeError)) {
      ThrowTypeError(StrCat(name, " must be a number, not ", TypeName(object)));
    }
    throw PythonError();
  }
  return {value.real, value.imag};
}

std::string_view ToText(PyObject* object, std::string_view name) {
  if (!PyUnicode_Check(object)) {
    ThrowTypeError(StrCat(name, " must be a str, not ", TypeName(object)));
  }
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(object, &size);
  if (utf8 == nullptr) {
    if (!ClearIf(PyExc_UnicodeEncodeError)) throw PythonError();
    return "\xff";  // in no UTF-8, and so nobody's name
  }
  return {utf8, static_cast<size_t>(size)};
}

Ref ToTupleOfItems(PyObject* sequence, std::string_view name) {
  if (PyTuple_CheckExact(sequence)) return Ref::Borrow(sequence);
  if (IsText(sequence) || PySequence_Check(sequence) == 0 || PyAnySet_Check(sequence)) {
    ThrowTypeError(StrCat(name, " must be a sequence, not ", TypeName(sequence)));
  }
  PyObject* items = PySequence_Tuple(sequence);
  if (items == nullptr && ClearIf(PyExc_TypeError)) {
    ThrowTypeError(StrCat(name, " must be a sequence, not ", TypeName(sequence)));
  }
  return Ref::Steal(items);
}

template <typename Integer>
std::vector<Integer> ToIntegers(PyObject* object, std::string_view name) {
  std::vector<Integer> out;
  ForEachItem(object, name, [&](size_t i, PyObject* item) {
    out.push_back(ToInteger<Integer>(item, StrCat(name, "[", i, "]")));
  });
  return out;
}
template std::vector<uint32_t> ToIntegers(PyObject*, std::string_view);
template std::vector<uint64_t> ToIntegers(PyObject*, std::string_view);
template std::vector<int64_t> ToIntegers(PyObject*, std::string_view);

// Not ToInteger: negative and reserved extents have an exception of their own.
uint64_t ToExtent(PyObject* object, std::string_view name, std::string_view hint) {
  Ref index = ToIndexObject(object, name);
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow == 0 && value >= 0) return static_cast<uint64_t>(value);
  if (overflow < 0 || (overflow == 0 && value < 0)) {
    ThrowInvalidDescriptor(
        StrCat(name, " is ", IntegerText(index.get()), ", it must not be negative", hint));
  }
  auto extent = ToInteger<uint64_t>(index.get(), name);
  if (extent == kDynamicExtent) {
    ThrowInvalidDescriptor(StrCat(name, " is 2^64-1, which is reserved", hint));
  }
  return extent;
}

namespace {

// The same of entry i of a sequence, whose name is made only for a message.
uint64_t ToEntry(PyObject* item, std::string_view name, size_t i, std::string_view hint) {
  if (PyLong_CheckExact(item)) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow == 0 && value >= 0) return static_cast<uint64_t>(value);
  }
  return ToExtent(item, StrCat(name, "[", i, "]"), hint);
}

void CheckRankArgument(size_t rank, std::string_view name) {
  if (rank > kMaxRank) {
    ThrowInvalidDescriptor(
        StrCat(name, " has ", rank, " entries, at most ", kMaxRank, " are allowed"));
  }
}

[[noreturn]] void ThrowNotAShape(PyObject* object, std::string_view name) {
  std::string hint;
  if (PyLong_Check(object)) {
    hint = StrCat("; write [", IntegerText(object), "] for one dimension");
  }
  ThrowTypeError(StrCat(name, " must be a sequence of integers, not ", TypeName(object), hint));
}

template <typename Convert>
Shape ToExtents(PyObject* object, std::string_view name, Convert&& convert) {
  if (IsText(object) || PySequence_Check(object) == 0 || PyAnySet_Check(object)) {
    ThrowNotAShape(object, name);
  }
  Ref items = ToTupleOfItems(object, name);
  auto rank = static_cast<size_t>(PyTuple_GET_SIZE(items.get()));
  CheckRankArgument(rank, name);
  Shape shape(rank);
  for (size_t i = 0; i < rank; ++i) {
    shape[i] = convert(PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i)), i);
  }
  return shape;
}

}  // namespace

Shape ToShape(PyObject* object, std::string_view name) {
  return ToExtents(object, name, [&](PyObject* item, size_t i) {
    return item == Py_None ? kDynamicExtent
                           : ToEntry(item, name, i, "; use None for a dynamic dimension");
  });
}

Shape ToStaticExtents(PyObject* object, std::string_view name) {
  return ToExtents(object, name, [&](PyObject* item, size_t i) {
    if (item == Py_None) {
      ThrowInvalidDescriptor(StrCat(name, "[", i, "] is None, it must be an integer"));
    }
    return ToEntry(item, name, i, "");
  });
}

SmallVector<uint64_t, 8> ToIndex(PyObject* object, size_t rank) {
  Ref items = ToTupleOfItems(object, "index");
  auto count = static_cast<size_t>(PyTuple_GET_SIZE(items.get()));
  if (count != rank) {
    ThrowTypeError(StrCat("index has ", count, " entries, the tensor has rank ", rank));
  }
  SmallVector<uint64_t, 8> index(rank);
  for (size_t i = 0; i < rank; ++i) {
    Ref item = ToIndexObject(PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i)), "index");
    unsigned long long value = PyLong_AsUnsignedLongLong(item.get());
    if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
      if (!ClearIf(PyExc_OverflowError)) throw PythonError();
      throw Error(ErrorCode::kOutOfRange,
                  StrCat("index[", i, "] is ", IntegerText(item.get()), ", which is out of range"));
    }
    index[i] = value;
  }
  return index;
}

BytesView::BytesView(PyObject* object, std::string_view name, std::optional<ErrorCode> code) {
  if (PyObject_GetBuffer(object, &view_, PyBUF_SIMPLE) == 0) return;
  // TypeError: no buffer at all; BufferError and ValueError: one that is not contiguous.
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError();
  bool no_buffer = PyErr_ExceptionMatches(PyExc_TypeError) != 0;
  PyErr_Clear();
  std::string message = StrCat(
      name, no_buffer ? " must be a bytes-like object, not " : " must be C-contiguous; it is a ",
      TypeName(object));
  if (code) throw Error(*code, message);
  ThrowTypeError(message);
}

std::vector<uint8_t> ToBytes(PyObject* object, std::string_view name) {
  BytesView view(object, name, std::nullopt);
  return {view.bytes().begin(), view.bytes().end()};
}

Ref ShapeToTuple(ShapeView shape) {
  Ref tuple = Ref::Steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (size_t i = 0; i < shape.size(); ++i) {
    Ref extent = shape[i] == kDynamicExtent ? Ref::None() : ToPython(shape[i]);
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), extent.release());
  }
  return tuple;
}

Ref BytesToPython(std::span<const uint8_t> bytes) {
  return Ref::Steal(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<Py_ssize_t>(bytes.size())));
}

}  // namespace hurray
