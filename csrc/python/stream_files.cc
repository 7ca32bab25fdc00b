#include "python/stream_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "python/arguments.h"
#include "python/errors.h"
#include "python/ref.h"

namespace hurray {

namespace {

bool IsInstance(PyObject* object, PyObject* module, const char* class_name) {
  Ref type = Ref::Steal(PyObject_GetAttrString(module, class_name));
  return Checked(PyObject_IsInstance(object, type.get())) == 1;
}

Ref AttributeOrNull(PyObject* object, const char* name) {
  PyObject* value = PyObject_GetAttrString(object, name);
  if (value == nullptr && !ClearIf(PyExc_AttributeError)) throw PythonError();
  return Ref::StealOrNull(value);
}

// What tempfile wraps around a file object.
Ref Unwrapped(PyObject* object, PyObject* io) {
  if (!IsInstance(object, io, "IOBase")) {
    Ref file = AttributeOrNull(object, "file");
    if (file && IsInstance(file.get(), io, "IOBase")) return file;
  }
  return Ref::Borrow(object);
}

[[noreturn]] void RefuseOtherBytes(PyObject* object, std::string_view name) {
  ThrowTypeError(StrCat(name, " is a ", TypeName(object),
                        ", whose descriptor is not its byte stream; open the file in binary mode, "
                        "and decompress it first"));
}

// A gzip file, for one, has the descriptor of the compressed file.
void CheckCarriesSameBytes(PyObject* object, PyObject* io, std::string_view name) {
  if (!IsInstance(object, io, "IOBase")) return;  // a socket, say
  if (IsInstance(object, io, "TextIOBase")) RefuseOtherBytes(object, name);
  if (!IsInstance(object, io, "BufferedIOBase")) return;
  bool is_plain = IsInstance(object, io, "BufferedReader") ||
                  IsInstance(object, io, "BufferedWriter") ||
                  IsInstance(object, io, "BufferedRandom");
  if (!is_plain) RefuseOtherBytes(object, name);
  Ref raw = Ref::Steal(PyObject_GetAttrString(object, "raw"));
  if (!IsInstance(raw.get(), io, "RawIOBase")) RefuseOtherBytes(object, name);
}

int DescriptorOf(PyObject* object, PyObject* io, std::string_view name, std::string_view hint) {
  Ref unsupported = Ref::Steal(PyObject_GetAttrString(io, "UnsupportedOperation"));
  PyObject* result = PyObject_CallMethod(object, "fileno", nullptr);
  if (result == nullptr) {
    if (!ClearIf(unsupported.get())) throw PythonError();
    ThrowTypeError(
        StrCat(name, " is a ", TypeName(object), ", which has no file descriptor; ", hint));
  }
  Ref number = Ref::Steal(result);
  return ToInteger<int32_t>(number.get(), StrCat(name, ".fileno()"));
}

void Flush(PyObject* object) {
  Ref flush = AttributeOrNull(object, "flush");
  if (flush) Ref::Steal(PyObject_CallNoArgs(flush.get()));
}

// Where a buffered reader is, which is behind its descriptor's position.
void MoveToPosition(PyObject* object, int fd) {
  if (::lseek(fd, 0, SEEK_CUR) < 0) return;  // a pipe or socket
  Ref tell = AttributeOrNull(object, "tell");
  if (!tell) return;
  PyObject* position = PyObject_CallNoArgs(tell.get());
  if (position == nullptr) {
    if (!ClearIf(PyExc_OSError)) throw PythonError();
    return;
  }
  Ref held = Ref::Steal(position);
  ::lseek(fd, static_cast<off_t>(ToInteger<int64_t>(position, "tell()")), SEEK_SET);
}

}  // namespace

FileDescriptor DuplicateDescriptor(PyObject* object, std::string_view name, std::string_view hint) {
  if (!AttributeOrNull(object, "fileno")) {
    ThrowTypeError(StrCat(name, " must be a path, or an object with fileno(), not ",
                          TypeName(object), "; ", hint));
  }
  Ref io = Ref::Steal(PyImport_ImportModule("io"));
  Ref file = Unwrapped(object, io.get());
  int fd = DescriptorOf(file.get(), io.get(), name, hint);
  CheckCarriesSameBytes(file.get(), io.get(), name);
  Flush(file.get());
  int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) ThrowSystemError("duplicate", "");
  FileDescriptor duplicate(copy, "");
  MoveToPosition(file.get(), duplicate.get());
  return duplicate;
}

}  // namespace hurray
