// File names among arguments.
#pragma once

#include <Python.h>

#include <string>
#include <string_view>

namespace hurray {

// A str or an os.PathLike.
bool IsPath(PyObject* object);
// Its name for the system. TypeError for anything but a path.
std::string ToPath(PyObject* object, std::string_view name);

}  // namespace hurray
