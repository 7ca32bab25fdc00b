// hurray.Composite: a head that presents one logical view over ordered members.
#pragma once

#include <Python.h>

#include "core/descriptor.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

int AddComposite(PyObject* module, ModuleState& state);

// A composite of a validated head and a tuple of Tensor and Composite objects that were checked
// against it.
Ref NewComposite(ModuleState& state, TensorDescriptor head, Ref members);

// The members argument as a tuple; TypeError for anything but a sequence of Tensor and Composite.
Ref ToCompositeMembers(const ModuleState& state, PyObject* sequence);
// Throws kInvalidDescriptor if these members do not make this composite, or it is nested too deep.
void CheckCompositeOf(const ModuleState& state, const TensorDescriptor& head, PyObject* members);

inline bool IsComposite(const ModuleState& state, PyObject* object) noexcept {
  return Py_TYPE(object) == AsType(state.composite_type);
}
// REQUIRES: IsComposite(state, composite). The tuple is borrowed.
const TensorDescriptor& HeadOf(PyObject* composite) noexcept;
PyObject* MembersOf(PyObject* composite) noexcept;

}  // namespace hurray
