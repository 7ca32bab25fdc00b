// hurray.Layout and its subclasses, façades over the core's Layout.
#pragma once

#include <Python.h>

#include "core/layout.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

// Creates the base class, all layout classes and the module function layout_tag_kind.
int AddLayouts(PyObject* module, ModuleState& state);

// A fresh object of the class that fits.
Ref LayoutToPython(const ModuleState& state, const Layout& layout);
// Throws TypeError mentioning hurray.Layout for anything that is no layout object.
Layout ToLayout(const ModuleState& state, PyObject* object, std::string_view name);

// The rule and operation of a composite. ValueError for another name, for an overlay without an
// operation (null or None) and for another rule with one.
CompositionRule ToCompositionRule(PyObject* object);
CombineOp ToCombineOp(PyObject* object, CompositionRule rule);

}  // namespace hurray
