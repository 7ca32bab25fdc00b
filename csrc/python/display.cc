// How a tensor prints: repr and str. Neither raises; where its elements cannot be shown, a tensor
// shows what it is.

#include "python/arguments.h"
#include "python/array_interop.h"
#include "python/errors.h"
#include "python/print_options.h"
#include "python/tensor.h"

namespace hurray {

namespace {

// The text that `make` returns; nothing where it fails in a way that another text can stand in
// for. What a user's Ctrl-C raises goes on.
template <typename Make>
Ref TextOrNull(Make&& make) {
  try {
    return make();
  } catch (const PythonError&) {
    if (!ClearIf(PyExc_Exception)) throw;
  } catch (const std::exception&) {
    // Such as an extent that NumPy cannot express.
  }
  return Ref();
}

// Every element can be handed to NumPy.
bool HasArray(const TensorDescriptor& descriptor) {
  const Layout& layout = descriptor.layout();
  ElementType dtype = descriptor.dtype();
  return descriptor.device().is_cpu() && !HasDynamicExtent(descriptor.shape()) &&
         (NumpyTypeOf(dtype) || dtype == ElementTypes::kBool) &&
         (std::holds_alternative<RowMajorLayout>(layout) ||
          std::holds_alternative<ColMajorLayout>(layout) ||
          std::holds_alternative<StridedLayout>(layout));
}

Ref ElementsText(PyObject* self) {
  Ref array = TensorToArray(self);
  Ref numpy = Ref::Steal(PyImport_ImportModule("numpy"));
  Ref text = Ref::Steal(PyObject_CallMethod(numpy.get(), "array2string", "O", array.get()));
  ToText(text.get(), "numpy.array2string()");
  return text;
}

Ref MetadataText(PyObject* self) {
  TensorObject* tensor = TensorOf(self);
  return Ref::Steal(PyUnicode_FromFormat("hurray.Tensor(shape=%R, dtype=%S, device=%R)",
                                         ShapeTupleOf(tensor), tensor->dtype, tensor->device));
}

// ---- sparse tensors

// The accessors of a layout's components, in the order they print; empty for other layouts.
std::vector<const char*> ComponentsOf(const Layout& layout) {
  if (std::holds_alternative<CooLayout>(layout)) return {"indices", "values"};
  if (std::holds_alternative<CsrLayout>(layout)) return {"values", "col_indices", "row_ptr"};
  if (std::holds_alternative<CscLayout>(layout)) return {"values", "row_indices", "col_ptr"};
  return {};
}

Ref SparseText(PyObject* self, PyObject* components) {
  TensorObject* tensor = TensorOf(self);
  std::string layout(LayoutName(tensor->descriptor.layout()));
  Ref nnz = Ref::Steal(Tensor_nnz(self, nullptr));
  return Ref::Steal(PyUnicode_FromFormat("hurray.Tensor(layout='%s', shape=%R, nnz=%S, dtype=%S%U)",
                                         layout.c_str(), ShapeTupleOf(tensor), nnz.get(),
                                         tensor->dtype, components));
}

// ", values=[1. 2.], row_ptr=[0 2]"
Ref ComponentsText(PyObject* self, const std::vector<const char*>& names) {
  Ref text = ToPython(std::string_view());
  for (const char* name : names) {
    Ref component = Ref::Steal(PyObject_GetAttrString(self, name));
    text = Ref::Steal(PyUnicode_FromFormat("%U, %s=%S", text.get(), name, component.get()));
  }
  return text;
}

Ref SparseOrMetadataText(PyObject* self) {
  std::vector<const char*> names = ComponentsOf(TensorOf(self)->descriptor.layout());
  if (names.empty()) return MetadataText(self);
  Ref components;
  if (ShowsSparseContent(StateOf(Py_TYPE(self)))) {
    components = TextOrNull([&] { return ComponentsText(self, names); });
  }
  if (!components) components = ToPython(std::string_view());
  return SparseText(self, components.get());
}

}  // namespace

PyObject* Tensor_str(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    Ref text;
    if (HasArray(TensorOf(self)->descriptor)) {
      text = TextOrNull([&] { return ElementsText(self); });
    }
    return (text ? std::move(text) : SparseOrMetadataText(self)).release();
  });
}

PyObject* Tensor_repr(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    Ref text;
    if (HasArray(TensorOf(self)->descriptor)) {
      text = TextOrNull([&] {
        Ref elements = ElementsText(self);
        return Ref::Steal(PyUnicode_FromFormat("hurray.Tensor(%U, dtype=%S)", elements.get(),
                                               TensorOf(self)->dtype));
      });
    }
    return (text ? std::move(text) : SparseOrMetadataText(self)).release();
  });
}

}  // namespace hurray
