// DLPack's C exchange API: tensors passed between extension modules without a capsule.

#include <cstring>
#include <new>
#include <string>

#include "python/arguments.h"
#include "python/dlpack.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/tensor.h"

namespace hurray {

namespace {

constexpr char kApiAttribute[] = "__dlpack_c_exchange_api__";
constexpr char kApiCapsule[] = "dlpack_exchange_api";

// The functions below get no context. An object is a Tensor of ours if its type's deallocator is:
// nobody can inherit from the type.
bool IsOurTensor(PyObject* object) noexcept {
  return Py_TYPE(object)->tp_dealloc == Tensor_dealloc;
}

// Runs `body` for a tensor of ours; anything else is a TypeError.
template <typename Body>
int ForOurTensor(void* object, Body&& body) noexcept {
  auto* tensor = static_cast<PyObject*>(object);
  if (!IsOurTensor(tensor)) {
    PyErr_SetString(PyExc_TypeError, "a hurray.Tensor is needed");
    return -1;
  }
  return Guard(Py_TYPE(tensor), [&] {
    body(tensor);
    return 0;
  });
}

int ManagedFromPyObject(void* object, DLManagedTensorVersioned** out) noexcept {
  return ForOurTensor(object, [&](PyObject* tensor) { *out = ExportManaged(tensor, 0); });
}

int DlTensorFromPyObject(void* object, DLTensor* out) noexcept {
  return ForOurTensor(object, [&](PyObject* tensor) {
    const DLTensor& described = DlTensorOf(tensor);
    if (!IsWritable(*TensorOf(tensor))) {
      throw Error(ErrorCode::kNotExportable,
                  "the memory is read-only, which a bare DLTensor cannot tell");
    }
    *out = described;
  });
}

int ManagedToPyObject(DLManagedTensorVersioned* managed, void** out) noexcept {
  PyObject* name = PyUnicode_FromString("hurray._core");
  PyObject* module = name == nullptr ? nullptr : PyImport_GetModule(name);
  Py_XDECREF(name);
  if (module == nullptr) {
    if (PyErr_Occurred() == nullptr) {
      PyErr_SetString(PyExc_RuntimeError, "hurray is not imported in this interpreter");
    }
    return -1;
  }
  int status = Guard(module, [&] {
    *out = ImportManaged(StateOf(module), managed, std::nullopt).release();
    return 0;
  });
  Py_DECREF(module);
  return status;
}

// ---- allocation on behalf of a consumer

struct OwnAllocation {
  DLManagedTensorVersioned managed{};
  Buffer memory;
  Shape shape;
  Strides strides;
};

void DeleteOwnAllocation(DLManagedTensorVersioned* self) noexcept {
  delete static_cast<OwnAllocation*>(self->manager_ctx);
}

DLManagedTensorVersioned* Allocate(const DLTensor& prototype) {
  if (prototype.device.device_type != kDLCPU) {
    throw Error(ErrorCode::kNotExportable, "only CPU memory can be allocated");
  }
  auto element = ElementTypeOfDlpack(prototype.dtype);
  if (!element) throw Error(ErrorCode::kNotExportable, "the element type is not supported");
  if (prototype.ndim < 0 || prototype.ndim > static_cast<int32_t>(kMaxRank)) {
    throw Error(ErrorCode::kNotExportable, StrCat("ndim is ", prototype.ndim));
  }
  auto rank = static_cast<size_t>(prototype.ndim);
  auto own = std::make_unique<OwnAllocation>();
  own->shape = Shape(rank);
  own->strides = Strides(rank);
  for (size_t k = 0; k < rank; ++k) {
    if (prototype.shape[k] < 0) {
      throw Error(ErrorCode::kNotExportable, StrCat("shape[", k, "] is ", prototype.shape[k]));
    }
    own->shape[k] = static_cast<uint64_t>(prototype.shape[k]);
  }
  ShapeView extents(own->shape.data(), rank);
  auto size = AddressableBytes(extents, element->bits() / 8);
  if (!size) throw std::bad_alloc();
  uint64_t step = 1;
  for (size_t k = rank; k-- > 0; step *= own->shape[k]) {
    own->strides[k] = static_cast<int64_t>(step);
  }
  own->memory = Buffer::Allocate(static_cast<size_t>(*size));
  DLManagedTensorVersioned& managed = own->managed;
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.manager_ctx = own.get();
  managed.deleter = DeleteOwnAllocation;
  managed.flags = 0;
  managed.dl_tensor = {own->memory.data(),
                       {kDLCPU, 0},
                       prototype.ndim,
                       prototype.dtype,
                       reinterpret_cast<int64_t*>(own->shape.data()),
                       own->strides.data(),
                       0};
  return &own.release()->managed;
}

int AllocateManagedTensor(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_context,
                          void (*set_error)(void* context, const char* kind,
                                            const char* message)) noexcept {
  try {
    *out = Allocate(*prototype);
    return 0;
  } catch (const std::bad_alloc&) {
    set_error(error_context, "MemoryError", "out of memory");
  } catch (const std::exception& error) {
    set_error(error_context, "BufferError", error.what());
  }
  return -1;
}

int CurrentWorkStream(DLDeviceType, int32_t, void** out) noexcept {
  *out = nullptr;  // the CPU has no streams
  return 0;
}

// Lives as long as the process, as the protocol asks.
const DLPackExchangeAPI kExchangeApi = {
    {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, nullptr},
    AllocateManagedTensor,
    ManagedFromPyObject,
    ManagedToPyObject,
    DlTensorFromPyObject,
    CurrentWorkStream,
};

// An attribute, None if there is none.
Ref GetOrNone(PyObject* object, const char* name) {
  Ref found = Ref::StealOrNull(PyObject_GetAttrString(object, name));
  if (found) return found;
  if (!ClearIf(PyExc_AttributeError)) throw PythonError();
  return Ref::None();
}

const DLPackExchangeAPI* UsableApi(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kApiCapsule) == 0) return nullptr;
  auto* header =
      static_cast<const DLPackExchangeAPIHeader*>(PyCapsule_GetPointer(capsule, kApiCapsule));
  while (header != nullptr && header->version.major != DLPACK_MAJOR_VERSION) {
    header = header->prev_api;
  }
  return reinterpret_cast<const DLPackExchangeAPI*>(header);
}

}  // namespace

const DLPackExchangeAPI* ExchangeApiOf(ModuleState& state, PyTypeObject* type) {
  auto* key = reinterpret_cast<PyObject*>(type);
  if (state.exchange_type != key) {
    // Looked up on the type, as the protocol asks; one type at a time is the usual case.
    Ref capsule = GetOrNone(key, kApiAttribute);
    Ref requires_grad = GetOrNone(key, "requires_grad");
    // Nothing below runs Python code before all of it is in place.
    Ref old_type = Ref::StealOrNull(std::exchange(state.exchange_type, Py_NewRef(key)));
    Ref old_capsule = Ref::StealOrNull(state.exchange_capsule);
    Ref old_requires_grad = Ref::StealOrNull(state.exchange_requires_grad);
    state.exchange_api = capsule.get() == Py_None ? nullptr : UsableApi(capsule.get());
    state.exchange_capsule = capsule.release();
    state.exchange_requires_grad = requires_grad.release();
  }
  return static_cast<const DLPackExchangeAPI*>(state.exchange_api);
}

bool RequiresGrad(const ModuleState& state, PyObject* object) {
  // The type's own descriptor spares the search for the name.
  Ref descriptor = Ref::Borrow(state.exchange_requires_grad);
  Ref answer;
  if (state.exchange_type == reinterpret_cast<PyObject*>(Py_TYPE(object)) &&
      Py_TYPE(descriptor.get()) == &PyGetSetDescr_Type) {
    const PyGetSetDef* attribute =
        reinterpret_cast<PyGetSetDescrObject*>(descriptor.get())->d_getset;
    answer = Ref::Steal(attribute->get(object, attribute->closure));
  } else {
    answer = GetOrNone(object, "requires_grad");
  }
  return Checked(PyObject_IsTrue(answer.get())) == 1;
}

int AddDlpackExchange(PyObject*, ModuleState& state) {
  auto* type = AsType(state.tensor_type);
  Ref capsule = Ref::StealOrNull(
      PyCapsule_New(const_cast<DLPackExchangeAPI*>(&kExchangeApi), kApiCapsule, nullptr));
  // An immutable type takes no attribute the usual way.
  if (!capsule || PyDict_SetItemString(type->tp_dict, kApiAttribute, capsule.get()) < 0) return -1;
  PyType_Modified(type);
  return 0;
}

}  // namespace hurray
