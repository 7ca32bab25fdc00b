#include "python/parameters.h"

namespace hurray {

Ref ReduceToKeywords(PyTypeObject* type, const Ref& keywords) {
  // The one function of the standard library that is made for this, and known to every pickle.
  Ref copyreg = Ref::Steal(PyImport_ImportModule("copyreg"));
  Ref function = Ref::Steal(PyObject_GetAttrString(copyreg.get(), "__newobj_ex__"));
  Ref no_arguments = Ref::Steal(PyTuple_New(0));
  Ref call = Ref::Steal(PyTuple_Pack(3, type, no_arguments.get(), keywords.get()));
  return ReduceTo(function.get(), call);
}

Py_hash_t HashOfBytes(std::span<const uint8_t> bytes) {
  Py_hash_t hash = PyObject_Hash(BytesToPython(bytes).get());
  if (hash == -1) throw PythonError();
  return hash;
}

}  // namespace hurray
