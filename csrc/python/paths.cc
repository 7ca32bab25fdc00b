#include "python/paths.h"

#include "python/errors.h"
#include "python/ref.h"

namespace hurray {

bool IsPath(PyObject* object) {
  if (PyUnicode_Check(object)) return true;
  // On the type, as os.fspath looks it up.
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__fspath__") == 1;
}

std::string ToPath(PyObject* object, std::string_view name) {
  if (!IsPath(object)) {
    ThrowTypeError(StrCat(name, " must be a str or os.PathLike, not ", TypeName(object)));
  }
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(object, &encoded) == 0) throw PythonError();
  Ref bytes = Ref::Steal(encoded);
  return std::string(PyBytes_AS_STRING(encoded), static_cast<size_t>(PyBytes_GET_SIZE(encoded)));
}

}  // namespace hurray
