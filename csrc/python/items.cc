#include "python/items.h"

#include <utility>

#include "python/composite.h"
#include "python/tensor.h"

namespace hurray {

namespace {

Ref TensorToPython(ModuleState& state, TensorData tensor) {
  TensorBuffers buffers;
  for (Buffer& buffer : tensor.buffers) buffers.Add(std::move(buffer));
  return NewTensor(state, std::move(tensor.descriptor), std::move(buffers));
}

Ref CompositeToPython(ModuleState& state, CompositeData composite) {
  Ref members = Ref::Steal(PyTuple_New(static_cast<Py_ssize_t>(composite.members.size())));
  for (size_t i = 0; i < composite.members.size(); ++i) {
    PyTuple_SET_ITEM(members.get(), static_cast<Py_ssize_t>(i),
                     ItemToPython(state, std::move(composite.members[i])).release());
  }
  return NewComposite(state, std::move(composite.head), std::move(members));
}

}  // namespace

Item ToItem(const ModuleState& state, PyObject* object) {
  if (IsTensor(state, object)) {
    const TensorObject* tensor = TensorOf(object);
    std::vector<Buffer> buffers;
    buffers.reserve(tensor->buffers.size());
    for (size_t i = 0; i < tensor->buffers.size(); ++i) buffers.push_back(tensor->buffers[i]);
    return TensorData{tensor->descriptor, std::move(buffers)};
  }
  CompositeData composite{HeadOf(object), {}};
  PyObject* members = MembersOf(object);
  composite.members.reserve(static_cast<size_t>(PyTuple_GET_SIZE(members)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members); ++i) {
    composite.members.push_back(ToItem(state, PyTuple_GET_ITEM(members, i)));
  }
  return composite;
}

Ref ItemToPython(ModuleState& state, Item item) {
  if (auto* tensor = std::get_if<TensorData>(&item))
    return TensorToPython(state, std::move(*tensor));
  return CompositeToPython(state, std::get<CompositeData>(std::move(item)));
}

}  // namespace hurray
