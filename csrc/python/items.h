// Tensors and composites on their way into files and streams, and out of them.
#pragma once

#include <Python.h>

#include "io/item.h"
#include "python/module_state.h"
#include "python/ref.h"

namespace hurray {

// What a Tensor or Composite holds; its memory is shared.
// REQUIRES: IsTensor or IsComposite.
Item ToItem(const ModuleState& state, PyObject* object);

// A Tensor or Composite over the item's memory.
Ref ItemToPython(ModuleState& state, Item item);

}  // namespace hurray
