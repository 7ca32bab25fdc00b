// hurray.Device: a device kind, which one of it, and a memory class.
#pragma once

#include <Python.h>

#include "core/device.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

int AddDevice(PyObject* module, ModuleState& state);

// A Device with id 0; hurray.device.cpu itself for the CPU's standard memory.
Ref DeviceToPython(ModuleState& state, Device device);
// REQUIRES: IsDevice(state, object).
Device DeviceOf(PyObject* object) noexcept;
int32_t DeviceIdOf(PyObject* object) noexcept;
inline bool IsDevice(const ModuleState& state, PyObject* object) noexcept {
  return Py_TYPE(object) == AsType(state.device_type);
}
std::string NotADeviceMessage(PyObject* object, std::string_view name);
// The device argument of a constructor: null or None is hurray.device.cpu. TypeError for anything
// but a Device.
Ref ToDeviceObject(const ModuleState& state, PyObject* object, std::string_view name);

// The device argument of an ingest function: null, None and the CPU pass. Throws
// kInvalidDescriptor for what is no Device, kUnsupported for another device.
void CheckHostDevice(const ModuleState& state, PyObject* object, std::string_view name);

}  // namespace hurray
