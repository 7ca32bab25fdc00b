#include "python/c_api.h"

#include <hurray/hurray.h>

#include "python/errors.h"
#include "python/foreign_buffers.h"
#include "python/tensor.h"

namespace hurray {

namespace {

int TensorCheck(PyObject* object) noexcept {
  return Py_TYPE(object)->tp_dealloc == Tensor_dealloc ? 1 : 0;
}

// The module, found by name: the functions below get no context.
Ref FindModule() noexcept {
  Ref name = Ref::StealOrNull(PyUnicode_FromString("hurray._core"));
  Ref module = Ref::StealOrNull(name ? PyImport_GetModule(name.get()) : nullptr);
  if (!module && PyErr_Occurred() == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "hurray is not imported in this interpreter");
  }
  return module;
}

void CheckBorrowable(const TensorDescriptor& descriptor) {
  CheckSynced(descriptor, ErrorCode::kUnsupported);
  auto refuse = [](const std::string& reason) { throw Error(ErrorCode::kUnsupported, reason); };
  if (!HasStrides(descriptor.layout())) {
    refuse(StrCat("layout ", LayoutName(descriptor.layout()), " has no strides"));
  }
  if (descriptor.packing().bits < 8) {
    refuse(StrCat("dtype ", descriptor.dtype().name(), " is packed, its elements have no address"));
  }
  if (HasDynamicExtent(descriptor.shape())) refuse("the shape has a dynamic dimension");
  if (!AddressableBytes(descriptor.shape(), descriptor.packing().group_bytes)) {
    refuse("the shape has more bytes than an address space");
  }
  if (!descriptor.device().is_cpu()) refuse("the tensor is not on the CPU");
}

int TensorBorrow(PyObject* object, HurrayDenseView* view) noexcept {
  if (TensorCheck(object) == 0) {
    PyErr_Format(PyExc_TypeError, "a hurray.Tensor is needed, not %s", Py_TYPE(object)->tp_name);
    return -1;
  }
  return Guard(Py_TYPE(object), [&] {
    if (view->struct_size < sizeof(HurrayDenseView)) {
      ThrowValueError(StrCat("struct_size is ", view->struct_size, ", it must be at least ",
                             sizeof(HurrayDenseView)));
    }
    TensorObject* tensor = TensorOf(object);
    const TensorDescriptor& descriptor = tensor->descriptor;
    CheckBorrowable(descriptor);
    Exports* exports = ExportsOf(tensor);
    uint8_t* data = tensor->buffers[0].data();
    view->type_tag = descriptor.dtype().tag();
    view->read_only = tensor->buffers[0].writable() ? 0 : 1;
    view->rank = static_cast<uint16_t>(descriptor.rank());
    view->data = data == nullptr ? nullptr : data + descriptor.byte_offset();
    view->shape = descriptor.shape().data();
    view->strides = exports->element_strides.data();
    return 0;
  });
}

// Runs `build` with the module's state and a hold on the caller's memory, which is let go of if
// anything fails.
template <typename Build>
PyObject* BuildFromForeign(void* owner, void (*release)(void*), Build&& build) noexcept {
  Ref module = FindModule();
  if (!module) {
    if (release != nullptr) release(owner);
    return nullptr;
  }
  return Guard(module.get(), [&] {
    ForeignHold hold(owner, release);
    return build(StateOf(module.get()), hold).release();
  });
}

PyObject* TensorFromBuffers(const uint8_t* descriptor, uint64_t descriptor_size,
                            const HurrayBuffer* buffers, uint32_t buffer_count, void* owner,
                            void (*release)(void*)) noexcept {
  return BuildFromForeign(owner, release, [&](ModuleState& state, const ForeignHold& hold) {
    if (descriptor == nullptr || (buffers == nullptr && buffer_count != 0)) {
      ThrowValueError("descriptor or buffers is NULL");
    }
    return TensorFromForeign(state, {descriptor, static_cast<size_t>(descriptor_size)}, buffers,
                             buffer_count, sizeof(HurrayBuffer), hold);
  });
}

PyObject* TensorFromDense(uint8_t type_tag, uint32_t rank, const uint64_t* shape, void* data,
                          uint64_t byte_size, void* owner, void (*release)(void*)) noexcept {
  return BuildFromForeign(owner, release, [&](ModuleState& state, const ForeignHold& hold) {
    if (rank > kMaxRank || (rank > 0 && shape == nullptr)) {
      ThrowValueError(StrCat("rank is ", rank, ", at most ", kMaxRank, " is allowed with a shape"));
    }
    TensorDescriptor dense =
        DenseDescriptor(ElementType::FromTag(type_tag), Shape(ShapeView(shape, rank)), byte_size);
    dense.Validate(ErrorCode::kBuffer);
    std::vector<uint8_t> encoded = dense.Encode();
    HurrayBuffer buffer = {
        .data = data,
        .byte_size = byte_size,
        .flags = 0,
        .device_tag = 0,
        .memory_class = 0,
        .sync_mode = HURRAY_SYNC_PRODUCER_SYNCED,
        .reserved = 0,
        .device_id = 0,
        .reserved2 = 0,
    };
    return TensorFromForeign(state, encoded, &buffer, 1, sizeof(HurrayBuffer), hold);
  });
}

// Lives as long as the process: other modules keep its address.
const HurrayCApi kCApi = {
    .magic = HURRAY_C_API_MAGIC,
    .struct_size = sizeof(HurrayCApi),
    .abi_version = HURRAY_ABI_VERSION,
    .tensor_check = TensorCheck,
    .tensor_borrow = TensorBorrow,
    .tensor_from_buffers = TensorFromBuffers,
    .tensor_from_dense = TensorFromDense,
};

constexpr char kGetIncludeDoc[] = R"(get_include()
--

The folder to give a C compiler with ``-I`` so that it finds ``hurray/hurray.h``.

Returns
-------
str

Examples
--------
>>> import os
>>> os.path.exists(os.path.join(hurray.get_include(), "hurray", "hurray.h"))
True
)";

PyObject* GetInclude(PyObject* module, PyObject*) {
  return Guard(module, [&] {
    // The header lies beside the extension module, in the package.
    Ref file = Ref::Steal(PyModule_GetFilenameObject(module));
    Ref path = Ref::Steal(PyImport_ImportModule("os.path"));
    Ref folder = Ref::Steal(PyObject_CallMethod(path.get(), "dirname", "O", file.get()));
    return Ref::Steal(PyObject_CallMethod(path.get(), "join", "Os", folder.get(), "include"))
        .release();
  });
}

PyMethodDef kFunctions[] = {
    {"get_include", GetInclude, METH_NOARGS, kGetIncludeDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int AddCApi(PyObject* module, ModuleState&) {
  Ref capsule = Ref::StealOrNull(
      PyCapsule_New(const_cast<HurrayCApi*>(&kCApi), HURRAY_C_API_CAPSULE_NAME, nullptr));
  if (!capsule) return -1;
  if (PyModule_AddObjectRef(module, "_C_API", capsule.get()) < 0) return -1;
  return PyModule_AddFunctions(module, kFunctions);
}

}  // namespace hurray
