// hurray.Statistics.
#pragma once

#include <Python.h>

#include "core/statistics.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

int AddStatistics(PyObject* module, ModuleState& state);

Ref StatisticsToPython(const ModuleState& state, const Statistics& statistics);
// TypeError for anything but a Statistics.
Statistics ToStatistics(const ModuleState& state, PyObject* object, std::string_view name);

}  // namespace hurray
