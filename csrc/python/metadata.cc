#include "python/metadata.h"

#include <cstring>
#include <string>
#include <utility>

#include "python/arguments.h"
#include "python/errors.h"

namespace hurray {

namespace {

[[noreturn]] void Fail(std::string_view key, const std::string& why) {
  throw Error(ErrorCode::kFile, StrCat("kv['", key, "'] ", why));
}

// ---- Python to core

enum class Kind : uint8_t { kBool, kInteger, kFloat, kText, kBytes, kOther };

bool IsBool(PyObject* value) {
  const char* type = Py_TYPE(value)->tp_name;
  return PyBool_Check(value) || std::strcmp(type, "numpy.bool") == 0 ||
         std::strcmp(type, "numpy.bool_") == 0;
}

Kind KindOf(PyObject* value) {
  if (IsBool(value)) return Kind::kBool;  // before int, of which bool is a subclass
  if (PyFloat_Check(value)) return Kind::kFloat;
  if (PyUnicode_Check(value)) return Kind::kText;
  if (PyBytes_Check(value)) return Kind::kBytes;
  // Not every object with __index__: NumPy's arrays of one element have it, too.
  if (PyLong_Check(value)) return Kind::kInteger;
  if (PyIndex_Check(value) && PySequence_Check(value) == 0) return Kind::kInteger;
  return Kind::kOther;
}

std::string Text(PyObject* value, std::string_view key) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(value, &size);
  if (utf8 == nullptr) {
    if (!ClearIf(PyExc_UnicodeEncodeError)) throw PythonError();
    Fail(key, "is a str that UTF-8 cannot express");
  }
  return std::string(utf8, static_cast<size_t>(size));
}

Blob Bytes(PyObject* value) {
  auto* start = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(value));
  return Blob(start, start + PyBytes_GET_SIZE(value));
}

// int64 where that holds it, else uint64.
bool FitsInt64(PyObject* index, std::string_view key) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
  if (overflow < 0) {
    ThrowOverflowError(StrCat("kv['", key, "'] is below -2^63, the least int of a file"));
  }
  return overflow == 0;
}

uint64_t Unsigned(PyObject* index, std::string_view key) {
  unsigned long long value = PyLong_AsUnsignedLongLong(index);
  if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
    if (!ClearIf(PyExc_OverflowError)) throw PythonError();
    ThrowOverflowError(
        StrCat("kv['", key,
               "'] must be from -2^63 to 2^64-1; a list with values of 2^63 and more "
               "holds no negative ones"));
  }
  return value;
}

MetadataValue Integer(PyObject* value, std::string_view key) {
  Ref index = Ref::Steal(PyNumber_Index(value));
  if (FitsInt64(index.get(), key)) return int64_t{PyLong_AsLongLong(index.get())};
  return Unsigned(index.get(), key);
}

MetadataValue Integers(PyObject* items, std::string_view key) {
  std::vector<Ref> indices;
  bool all_fit = true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); ++i) {
    indices.push_back(Ref::Steal(PyNumber_Index(PyTuple_GET_ITEM(items, i))));
    all_fit = FitsInt64(indices.back().get(), key) && all_fit;
  }
  if (all_fit) {
    std::vector<int64_t> values;
    for (const Ref& index : indices) values.push_back(PyLong_AsLongLong(index.get()));
    return values;
  }
  std::vector<uint64_t> values;
  for (const Ref& index : indices) values.push_back(Unsigned(index.get(), key));
  return values;
}

template <typename T, typename Convert>
std::vector<T> Each(PyObject* items, Convert&& convert) {
  std::vector<T> values;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); ++i) {
    values.push_back(convert(PyTuple_GET_ITEM(items, i)));
  }
  return values;
}

MetadataValue List(PyObject* list, std::string_view key) {
  Ref items = Ref::Steal(PyList_AsTuple(list));
  if (PyTuple_GET_SIZE(items.get()) == 0) Fail(key, "is an empty list, which has no element type");
  Kind kind = KindOf(PyTuple_GET_ITEM(items.get(), 0));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    if (KindOf(item) != kind) {
      Fail(key, StrCat("is a list that mixes ", TypeName(PyTuple_GET_ITEM(items.get(), 0)), " and ",
                       TypeName(item), ", all elements must be of one kind"));
    }
  }
  switch (kind) {
    case Kind::kBool:
      return Each<bool>(items.get(), [&](PyObject* item) { return ToBool(item, key); });
    case Kind::kInteger:
      return Integers(items.get(), key);
    case Kind::kFloat:
      return Each<double>(items.get(), [](PyObject* item) { return PyFloat_AS_DOUBLE(item); });
    case Kind::kText:
      return Each<std::string>(items.get(), [&](PyObject* item) { return Text(item, key); });
    case Kind::kBytes:
      return Each<Blob>(items.get(), Bytes);
    case Kind::kOther:
      break;
  }
  Fail(key, StrCat("is a list of ", TypeName(PyTuple_GET_ITEM(items.get(), 0)),
                   ", elements must be bool, int, float, str or bytes"));
}

MetadataValue Value(PyObject* value, std::string_view key) {
  if (PyList_Check(value)) return List(value, key);
  switch (KindOf(value)) {
    case Kind::kBool:
      return ToBool(value, key);
    case Kind::kInteger:
      return Integer(value, key);
    case Kind::kFloat:
      return PyFloat_AS_DOUBLE(value);
    case Kind::kText:
      return Text(value, key);
    case Kind::kBytes:
      return Bytes(value);
    case Kind::kOther:
      break;
  }
  Fail(key, StrCat("is a ", TypeName(value),
                   ", it must be a bool, int, float, str, bytes or a list of one of these"));
}

// ---- core to Python

Ref Object(const std::string& text) { return ToPython(std::string_view(text)); }
Ref Object(const Blob& bytes) { return BytesToPython(bytes); }
template <typename T>
  requires std::is_arithmetic_v<T>
Ref Object(T number) {
  return ToPython(number);
}
template <typename T>
  requires(!std::is_same_v<T, uint8_t>)
Ref Object(const std::vector<T>& values) {
  Ref list = Ref::Steal(PyList_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) {
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), Object(T(values[i])).release());
  }
  return list;
}

}  // namespace

Metadata ToMetadata(PyObject* dict) {
  Metadata metadata;
  if (dict == nullptr || dict == Py_None) return metadata;
  if (!PyDict_Check(dict)) ThrowTypeError(StrCat("kv must be a dict, not ", TypeName(dict)));
  // A copy: converting a value may run Python code, which could change the dict.
  Ref copy = Ref::Steal(PyDict_Copy(dict));
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(copy.get(), &at, &key, &value) != 0;) {
    if (!PyUnicode_Check(key)) {
      ThrowTypeError(StrCat("a key of kv must be a str, not ", TypeName(key)));
    }
    std::string name = Text(key, "?");
    metadata.emplace_back(name, Value(value, name));
  }
  return metadata;
}

Ref MetadataToDict(const Metadata& metadata) {
  Ref dict = Ref::Steal(PyDict_New());
  for (const auto& [key, value] : metadata) {
    Ref object = std::visit([](const auto& v) { return Object(v); }, value);
    Checked(PyDict_SetItem(dict.get(), Object(key).get(), object.get()));
  }
  return dict;
}

}  // namespace hurray
