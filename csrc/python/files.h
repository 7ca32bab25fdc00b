// save, load, load_kv, dumps and loads.
#pragma once

#include <Python.h>

#include <memory>
#include <string>

#include "io/file_reader.h"
#include "python/module_state.h"

namespace hurray {

int AddFiles(PyObject* module, ModuleState& state);

// Opens a file without the GIL. REQUIRES: the GIL is held.
std::unique_ptr<FileReader> OpenFile(const std::string& path, FileAccess access, Mode mode);

}  // namespace hurray
