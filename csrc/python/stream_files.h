// File objects among arguments: the descriptor behind them, where that is their byte stream.
#pragma once

#include <Python.h>

#include <string_view>

#include "io/file_descriptor.h"

namespace hurray {

// A duplicate of the descriptor of an object with fileno(), after flushing what the object holds
// back and moving to the position it is at. TypeError for an object without a descriptor, and for
// one whose descriptor carries other bytes than the object (a text or compressed file); `name`
// and `hint` are for the message. What the object's methods raise is thrown as PythonError.
FileDescriptor DuplicateDescriptor(PyObject* object, std::string_view name, std::string_view hint);

}  // namespace hurray
