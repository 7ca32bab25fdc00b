// hurray.Shard.
#pragma once

#include <Python.h>

#include "core/shard.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

int AddShard(PyObject* module, ModuleState& state);

Ref ShardToPython(const ModuleState& state, const Shard& shard);
// TypeError for anything but a Shard.
Shard ToShard(const ModuleState& state, PyObject* object, std::string_view name);

}  // namespace hurray
