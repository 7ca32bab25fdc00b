// hurray.ExtensionType.
#pragma once

#include <Python.h>

#include "core/extension_type.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

int AddExtensionType(PyObject* module, ModuleState& state);

Ref ExtensionTypeToPython(const ModuleState& state, const ExtensionType& type);
// TypeError for anything but an ExtensionType.
ExtensionType ToExtensionType(const ModuleState& state, PyObject* object, std::string_view name);

}  // namespace hurray
