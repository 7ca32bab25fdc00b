#include "python/errors.h"

#include <cerrno>
#include <cstring>
#include <new>

namespace hurray {

namespace {

struct NewException {
  PyObject** slot;
  const char* name;
  PyObject* base;
  const char* doc;
};

int Make(const NewException& spec) {
  *spec.slot = PyErr_NewExceptionWithDoc(spec.name, spec.doc, spec.base, nullptr);
  return *spec.slot == nullptr ? -1 : 0;
}

int MakeWithBases(PyObject** slot, const char* name, PyObject* first, PyObject* second,
                  const char* doc) {
  Ref bases = Ref::StealOrNull(PyTuple_Pack(2, first, second));
  if (!bases) return -1;
  return Make({slot, name, bases.get(), doc});
}

void SetSystemError(ModuleState& state, const SystemError& error) {
  PyObject* type = state.file_error;
  if (error.error_number() == ENOENT) type = state.file_not_found_error;
  if (error.error_number() == EACCES || error.error_number() == EPERM) {
    type = state.file_permission_error;
  }
  Ref arguments;
  // Of a descriptor without a name nothing can be missing: then the path itself is empty.
  if (error.path().empty() && error.error_number() != ENOENT) {
    arguments = Ref::StealOrNull(Py_BuildValue("(is)", error.error_number(), error.what()));
  } else {
    Ref path = Ref::StealOrNull(PyUnicode_DecodeFSDefaultAndSize(
        error.path().data(), static_cast<Py_ssize_t>(error.path().size())));
    if (!path) return;
    arguments = Ref::StealOrNull(Py_BuildValue("(isO)", error.error_number(),
                                               std::strerror(error.error_number()), path.get()));
  }
  if (arguments) PyErr_SetObject(type, arguments.get());
}

PyObject* ClassOf(const ModuleState& state, ErrorCode code) {
  switch (code) {  // no default: a new code without a class is a warning
    case ErrorCode::kInvalidDescriptor:
      return state.invalid_descriptor_error;
    case ErrorCode::kBuffer:
      return state.buffer_error;
    case ErrorCode::kCopyRequired:
      return state.copy_required_error;
    case ErrorCode::kUnsupported:
      return state.unsupported_error;
    case ErrorCode::kFile:
      return state.file_error;
    case ErrorCode::kStream:
      return state.stream_error;
    case ErrorCode::kOutOfRange:
      return PyExc_IndexError;
    case ErrorCode::kInvalidValue:
      return PyExc_ValueError;
    case ErrorCode::kOverflow:
      return PyExc_OverflowError;
    case ErrorCode::kNotExportable:
      return PyExc_BufferError;
  }
  return state.internal_error;
}

void SetMessage(PyObject* type, const char* message) {
  // Messages may quote names from hostile files; what is no UTF-8 there is escaped.
  Ref text = Ref::StealOrNull(PyUnicode_DecodeUTF8(
      message, static_cast<Py_ssize_t>(std::strlen(message)), "backslashreplace"));
  if (text) PyErr_SetObject(type, text.get());
}

}  // namespace

int AddExceptions(PyObject* module, ModuleState& state) {
  const NewException specs[] = {
      {&state.invalid_descriptor_error, "hurray.InvalidDescriptorError", PyExc_ValueError,
       "A tensor descriptor, or a value that would go into one, fails validation."},
      {&state.buffer_error, "hurray.BufferError", PyExc_ValueError,
       "The size, alignment or kind of a buffer or capsule is wrong.\n\n"
       "Not to be confused with the built-in BufferError, which DLPack and the buffer protocol "
       "raise for\nmemory that they cannot express."},
      {&state.unsupported_error, "hurray.UnsupportedError", PyExc_NotImplementedError,
       "An element type, layout, device or feature is outside what this version does."},
      {&state.internal_error, "hurray.InternalError", PyExc_RuntimeError,
       "A defect inside the module. Please report it."},
      {&state.file_error, "hurray.FileError", PyExc_OSError,
       "A file cannot be opened, read or written, or is no sound HRRYFILE container."},
      {&state.stream_error, "hurray.StreamError", PyExc_OSError,
       "The framing of a stream is broken, or a reader's limit was exceeded."},
  };
  for (const NewException& spec : specs) {
    if (Make(spec) < 0) return -1;
  }
  if (MakeWithBases(&state.copy_required_error, "hurray.CopyRequiredError", state.buffer_error,
                    state.unsupported_error,
                    "Sharing was asked for by copy=False, and the data must be copied.\n\n"
                    "A subclass of both hurray.BufferError and hurray.UnsupportedError.") < 0 ||
      MakeWithBases(&state.file_not_found_error, "hurray._FileNotFoundError", state.file_error,
                    PyExc_FileNotFoundError, "A FileError about a file that is not there.") < 0 ||
      MakeWithBases(&state.file_permission_error, "hurray._FilePermissionError", state.file_error,
                    PyExc_PermissionError, "A FileError about a lack of permission.") < 0) {
    return -1;
  }
  for (PyObject* type :
       {state.invalid_descriptor_error, state.buffer_error, state.copy_required_error,
        state.unsupported_error, state.internal_error, state.file_error, state.file_not_found_error,
        state.file_permission_error, state.stream_error}) {
    if (PyModule_AddType(module, AsType(type)) < 0) return -1;
  }
  return 0;
}

void SetPythonError(ModuleState& state) noexcept {
  try {
    throw;
  } catch (const PythonError&) {
    if (PyErr_Occurred() == nullptr) {
      PyErr_SetString(PyExc_SystemError, "a Python call failed without setting an error");
    }
  } catch (const SystemError& error) {
    SetSystemError(state, error);
  } catch (const Error& error) {
    SetMessage(ClassOf(state, error.code()), error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    SetMessage(state.internal_error, error.what());
  } catch (...) {
    SetMessage(state.internal_error, "an unknown C++ exception was thrown");
  }
}

void ThrowPython(PyObject* exception, const std::string& message) {
  SetMessage(exception, Printable(message).c_str());
  throw PythonError();
}

void ThrowPythonFromPending(PyObject* exception, const std::string& message) {
  PyObject *type, *cause, *traceback;
  PyErr_Fetch(&type, &cause, &traceback);
  PyErr_NormalizeException(&type, &cause, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(cause, traceback);
  Ref type_owner = Ref::Steal(type), cause_owner = Ref::Steal(cause);
  Ref traceback_owner = Ref::StealOrNull(traceback);
  SetMessage(exception, Printable(message).c_str());
  PyErr_Fetch(&type, &cause, &traceback);
  PyErr_NormalizeException(&type, &cause, &traceback);
  PyException_SetContext(cause, Py_NewRef(cause_owner.get()));
  PyException_SetCause(cause, cause_owner.release());
  PyErr_Restore(type, cause, traceback);
  throw PythonError();
}

std::string TypeName(PyObject* object) { return Py_TYPE(object)->tp_name; }

std::string ReprText(PyObject* object) {
  Ref text = Ref::Steal(PyObject_Repr(object));
  const char* utf8 = PyUnicode_AsUTF8(text.get());
  if (utf8 == nullptr) throw PythonError();
  return utf8;
}

}  // namespace hurray
