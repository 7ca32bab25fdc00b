#include "python/tensor.h"

#include <structmember.h>

#include <algorithm>
#include <new>

#include "core/addressing.h"
#include "core/contents.h"
#include "core/requirements.h"
#include "python/arguments.h"
#include "python/capsule.h"
#include "python/copies.h"
#include "python/descriptor.h"
#include "python/device.h"
#include "python/dlpack.h"
#include "python/dtype.h"
#include "python/errors.h"
#include "python/extension_type.h"
#include "python/layout.h"
#include "python/pickling.h"
#include "python/quantization.h"
#include "python/scipy_interop.h"
#include "python/shard.h"
#include "python/statistics.h"
#include "python/torch_interop.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr char kDoc[] =
    R"(Tensor(buffer, dtype, shape, device=None, *, aux_buffers=None, layout=None, quantization=None, statistics=None, shard=None, extension_type=None, copy=True)
--

An immutable description of a tensor together with the bytes that it describes.

Parameters
----------
buffer : bytes-like
    Bytes of buffer 0: any C-contiguous object with the buffer protocol.
dtype : Dtype
shape : sequence of int
    Extents; None for a dimension that is not known yet, ``[]`` for a scalar.
device : Device, optional
    What the bytes are declared to be on; `hurray.device.cpu` by default.
aux_buffers : sequence of bytes-like, optional
    Buffers 1 and on, in the order that the layout gives them.
layout : Layout, optional
    Row-major by default.
quantization : PerTensorAffine, PerChannelAffine, PerBlockAffine, NF4 or MXFP, optional
statistics : Statistics, optional
shard : Shard, optional
extension_type : ExtensionType, optional
    Required exactly for private element types.
copy : bool, optional
    True copies every buffer into own memory on a 64-byte boundary. None shares buffers whose
    address is a multiple of 64 and copies the others. False shares or refuses.

Raises
------
InvalidDescriptorError
    If the parts do not go together.
BufferError
    If a buffer is no C-contiguous bytes-like object, or smaller than the layout needs.
CopyRequiredError
    If ``copy=False`` and a buffer is not on a 64-byte boundary.
UnsupportedError
    For a `CompositeLayout`; a composite is built by `hurray.Composite`.

Notes
-----
Format: section 3, "Tensor descriptor".

Examples
--------
>>> import struct
>>> t = hurray.Tensor(struct.pack("<6f", 1, 2, 3, 4, 5, 6), hurray.float32, [2, 3])
>>> t.shape, t.size, t.dtype
((2, 3), 6, hurray.float32)
)";

// ---- lifetime

constexpr Signature kNew("Tensor",
                         {"buffer", "dtype", "shape", "device", "aux_buffers", "layout",
                          "quantization", "statistics", "shard", "extension_type", "copy"},
                         3, 4);

std::shared_ptr<const DescriptorSections> ToSections(ModuleState& state, PyObject* quantization,
                                                     PyObject* statistics, PyObject* shard,
                                                     PyObject* extension_type) {
  DescriptorSections sections;
  if (NoneToNull(quantization) != nullptr) {
    sections.quantization = ToQuantization(state, quantization, "quantization");
  }
  if (NoneToNull(statistics) != nullptr) {
    sections.statistics = ToStatistics(state, statistics, "statistics");
  }
  if (NoneToNull(shard) != nullptr) sections.shard = ToShard(state, shard, "shard");
  if (NoneToNull(extension_type) != nullptr) {
    sections.extension_type = ToExtensionType(state, extension_type, "extension_type");
  }
  if (sections.empty()) return nullptr;
  return std::make_shared<const DescriptorSections>(std::move(sections));
}

// A source of bytes among the arguments: the object, its name in messages, its bytes.
struct SourceBuffer {
  PyObject* object;
  std::string name;
  BytesView view;

  SourceBuffer(PyObject* source, std::string source_name)
      : object(source), name(std::move(source_name)), view(source, name, ErrorCode::kBuffer) {}
};

// Copies or shares, as the `copy` argument says. `copy`: nullopt is None.
Buffer TakeBuffer(const SourceBuffer& source, std::optional<bool> copy) {
  std::span<const uint8_t> bytes = source.view.bytes();
  bool aligned =
      bytes.empty() || reinterpret_cast<uintptr_t>(bytes.data()) % kMinBufferAlignment == 0;
  if (copy == false && !aligned) {
    throw Error(ErrorCode::kCopyRequired,
                StrCat(source.name, " is ", AddressAlignment(bytes.data()),
                       "-byte aligned, sharing it needs ", kMinBufferAlignment));
  }
  if (copy != true && aligned) {
    // A memoryview keeps the source exported, so it cannot be resized under the tensor.
    Ref owner = Ref::Steal(PyMemoryView_FromObject(source.object));
    return BorrowedBuffer(const_cast<uint8_t*>(bytes.data()), bytes.size(), source.view.writable(),
                          owner.get());
  }
  return CopyBytes(bytes);
}

Ref BuildTensor(ModuleState& state, const std::array<PyObject*, 11>& bound) {
  auto [buffer, dtype, shape, device, aux, layout, quantization, statistics, shard, extension,
        copy] = bound;
  ElementType element = ToElementType(state, dtype, "dtype");
  Shape extents = ToShape(shape, "shape");
  Ref device_object = ToDeviceObject(state, device, "device");
  Layout arrangement = RowMajorLayout{};
  if (NoneToNull(layout) != nullptr) arrangement = ToLayout(state, layout, "layout");
  if (IsVirtual(arrangement)) {
    throw Error(ErrorCode::kUnsupported,
                "layout is a CompositeLayout, which owns no buffers; build a hurray.Composite");
  }
  auto sections = ToSections(state, quantization, statistics, shard, extension);
  std::optional<bool> copy_mode = true;
  if (copy != nullptr) copy_mode = ToOptionalBool(copy, "copy");

  std::vector<std::unique_ptr<SourceBuffer>> sources;
  Ref aux_items;
  sources.push_back(std::make_unique<SourceBuffer>(buffer, "buffer"));
  if (NoneToNull(aux) != nullptr) {
    aux_items = ToTupleOfItems(aux, "aux_buffers");
    auto count = static_cast<size_t>(PyTuple_GET_SIZE(aux_items.get()));
    if (count + 1 > kMaxBuffers) {
      ThrowInvalidDescriptor(
          StrCat("there are ", count + 1, " buffers, at most ", kMaxBuffers, " are allowed"));
    }
    for (size_t i = 0; i < count; ++i) {
      sources.push_back(std::make_unique<SourceBuffer>(
          PyTuple_GET_ITEM(aux_items.get(), static_cast<Py_ssize_t>(i)),
          StrCat("aux_buffers[", i, "]")));
    }
  }

  Device placed = DeviceOf(device_object.get());
  CheckMemoryClassAllowed(placed);
  BufferTable table(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    table[i] = BufferHandle::Of(sources[i]->view.bytes().size(), placed);
  }
  TensorDescriptor descriptor(element, std::move(extents), std::move(arrangement), std::move(table),
                              0, std::move(sections));
  descriptor.Validate(ErrorCode::kBuffer);
  TensorBuffers buffers;
  for (const auto& source : sources) buffers.Add(TakeBuffer(*source, copy_mode));
  return NewTensor(state, std::move(descriptor), std::move(buffers), device_object.get());
}

PyObject* Tensor_vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf,
                            PyObject* kwnames) {
  auto* type = AsType(callable);
  return Guard(
      type, [&] { return BuildTensor(StateOf(type), kNew.Bind(args, nargsf, kwnames)).release(); });
}

int Tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  TensorObject* tensor = TensorOf(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(tensor->dtype);
  Py_VISIT(tensor->device);
  Py_VISIT(tensor->shape);
  Py_VISIT(tensor->descriptor_view);
  for (size_t i = 0; i < tensor->buffers.size(); ++i) {
    Py_VISIT(PythonOwnerOf(tensor->buffers[i]));
  }
  return 0;
}

int Tensor_clear(PyObject* self) {
  TensorObject* tensor = TensorOf(self);
  // Whoever still looks at the tensor finds it empty rather than without its memory.
  TensorDescriptor empty(tensor->descriptor.dtype(), Shape{0}, RowMajorLayout{}, BufferTable(1));
  tensor->descriptor = std::move(empty);
  tensor->ndim = StateOf(Py_TYPE(self)).ranks[1];
  TensorBuffers gone = std::exchange(tensor->buffers, TensorBuffers(Buffer()));
  for (size_t i = 0; i < gone.size(); ++i) ReleaseWithGil(gone[i]);
  Py_CLEAR(tensor->shape);
  Py_CLEAR(tensor->descriptor_view);
  if (tensor->exports != nullptr) tensor->exports->dlpack = std::nullopt;
  return 0;
}

}  // namespace

namespace {

// More tensors than this, one kept alive by the other, are released by way of the trashcan.
constexpr size_t kMostNestedDeallocs = 20;

// All but the memory and the reference to the type.
void Destroy(PyObject* self) noexcept {
  TensorObject* tensor = TensorOf(self);
  if (tensor->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  for (size_t i = 0; i < tensor->buffers.size(); ++i) ReleaseWithGil(tensor->buffers[i]);
  Py_XDECREF(tensor->dtype);
  Py_XDECREF(tensor->device);
  Py_XDECREF(tensor->shape);
  Py_XDECREF(tensor->descriptor_view);
  tensor->exports.~unique_ptr();
  tensor->buffers.~TensorBuffers();
  tensor->descriptor.~TensorDescriptor();
}

// Memory of a new tensor, untracked, in which all members have still to be made: until they are,
// nothing may throw.
TensorObject* AllocateTensor(ModuleState& state, ElementType dtype, size_t rank, PyObject* device) {
  auto* type = AsType(state.tensor_type);
  PyObject* self = state.spare_tensors.Take();
  if (self != nullptr) {
    PyObject_Init(self, type);
  } else {
    self = Ref::Steal(PyObject_GC_New(PyObject, type)).release();
  }
  TensorObject* tensor = TensorOf(self);
  tensor->weakrefs = nullptr;
  tensor->dtype = Py_NewRef(DtypeObjectOf(state, dtype));
  tensor->device = Py_NewRef(device);
  tensor->ndim = state.ranks[rank];
  tensor->shape = nullptr;
  tensor->descriptor_view = nullptr;
  new (&tensor->exports) std::unique_ptr<Exports>();
  return tensor;
}

// What keeps a buffer's bytes alive is all that a tensor has that could refer to the tensor: if it
// cannot, the garbage collector need not look.
bool MayRefer(const Buffer& buffer) noexcept {
  PyObject* owner = PythonOwnerOf(buffer);
  return owner != nullptr && PyType_IS_GC(Py_TYPE(owner)) != 0;
}

Ref Finished(TensorObject* tensor, bool tracked) noexcept {
  auto* self = reinterpret_cast<PyObject*>(tensor);
  if (tracked) PyObject_GC_Track(self);
  return Ref::Steal(self);
}

}  // namespace

void Tensor_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  // Null while the module ends.
  PyObject* module = reinterpret_cast<PyHeapTypeObject*>(type)->ht_module;
  ModuleState* state = module == nullptr ? nullptr : &StateOf(module);
  if (state != nullptr && state->nested_deallocs < kMostNestedDeallocs) {
    ++state->nested_deallocs;
    Destroy(self);
    --state->nested_deallocs;
    if (!state->spare_tensors.Keep(self)) type->tp_free(self);
    Py_DECREF(type);
    return;
  }
  // A view of a view of a view … must not recurse once per view.
  Py_TRASHCAN_BEGIN(self, Tensor_dealloc) Destroy(self);
  type->tp_free(self);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

namespace {

// ---- properties

ModuleState& StateOfTensor(PyObject* self) { return StateOf(Py_TYPE(self)); }
const TensorDescriptor& DescriptorOf(PyObject* self) { return TensorOf(self)->descriptor; }

PyObject* Tensor_shape(PyObject* self, void*) {
  if (PyObject* shape = TensorOf(self)->shape) return Py_NewRef(shape);
  return Guard(Py_TYPE(self), [&] { return Py_NewRef(ShapeTupleOf(TensorOf(self))); });
}
PyObject* Tensor_size(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] { return SizeToPython(DescriptorOf(self).shape()).release(); });
}
PyObject* Tensor_layout(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    return LayoutToPython(StateOfTensor(self), DescriptorOf(self).layout()).release();
  });
}
PyObject* Tensor_buffer_count(PyObject* self, void*) {
  return PyLong_FromSize_t(TensorOf(self)->buffers.size());
}
PyObject* Tensor_nbytes(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    size_t total = 0;
    for (const BufferHandle& handle : DescriptorOf(self).buffers()) total += handle.byte_size;
    return PyLong_FromSize_t(total);
  });
}
// What the memory has now. Readers align it as declared, where that can be had; memory that
// somebody handed over may have less.
uint32_t AlignmentNow(const BufferHandle& declared, const Buffer& buffer) noexcept {
  if (declared.byte_size == 0) return 1;
  auto address = reinterpret_cast<uintptr_t>(buffer.data());
  uintptr_t of_address = address & (~address + 1);
  auto kept = static_cast<uint32_t>(std::min<uintptr_t>(ReachableAlignment(declared), of_address));
  return std::max(kept, buffer.alignment());
}
PyObject* Tensor_buffer_handles(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    const TensorObject* tensor = TensorOf(self);
    BufferTable handles(tensor->descriptor.buffers());
    for (size_t i = 0; i < handles.size(); ++i) {
      handles[i].alignment = AlignmentNow(handles[i], tensor->buffers[i]);
    }
    return HandlesToTuple(StateOfTensor(self), {handles.data(), handles.size()}, tensor->device)
        .release();
  });
}
PyObject* Tensor_quantization(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return QuantizationOf(StateOfTensor(self), DescriptorOf(self)).release(); });
}
PyObject* Tensor_statistics(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return StatisticsOf(StateOfTensor(self), DescriptorOf(self)).release(); });
}
PyObject* Tensor_shard(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return ShardOf(StateOfTensor(self), DescriptorOf(self)).release(); });
}
PyObject* Tensor_extension_type(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return ExtensionTypeOf(StateOfTensor(self), DescriptorOf(self)).release(); });
}
PyObject* Tensor_descriptor(PyObject* self, void*) {
  TensorObject* tensor = TensorOf(self);
  if (tensor->descriptor_view != nullptr) return Py_NewRef(tensor->descriptor_view);
  return Guard(Py_TYPE(self), [&] {
    Ref made = DescriptorToPython(StateOfTensor(self), tensor->descriptor, tensor->device);
    // Making it may have run Python code that made it first.
    if (tensor->descriptor_view == nullptr) tensor->descriptor_view = made.release();
    return Py_NewRef(tensor->descriptor_view);
  });
}
PyObject* Tensor_is_writable(PyObject* self, void*) {
  return PyBool_FromLong(IsWritable(*TensorOf(self)));
}
PyObject* Tensor_owns_data(PyObject* self, void*) {
  const TensorBuffers& buffers = TensorOf(self)->buffers;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].owns_data()) Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
}

PyGetSetDef kProperties[] = {
    {"shape", Tensor_shape, nullptr, "tuple of int: extents; None for a dynamic one.", nullptr},
    {"size", Tensor_size, nullptr, "int or None: number of elements; None if one is dynamic.",
     nullptr},
    {"layout", Tensor_layout, nullptr, "Layout: how elements lie in the buffers.", nullptr},
    {"buffer_count", Tensor_buffer_count, nullptr, "int: number of buffers.", nullptr},
    {"nbytes", Tensor_nbytes, nullptr, "int: bytes of all buffers.", nullptr},
    {"buffer_handles", Tensor_buffer_handles, nullptr,
     "tuple of BufferHandle: one per buffer, with the alignment the memory has now.", nullptr},
    {"nnz", Tensor_nnz, nullptr, "int: stored elements; COO, CSR and CSC only.", nullptr},
    {"values", Tensor_values, nullptr,
     "Tensor of shape (nnz,): stored values, sharing memory; COO, CSR and CSC only.", nullptr},
    {"indices", Tensor_indices, nullptr,
     "uint64 Tensor of shape (nnz, rank): coordinates, sharing memory; COO only.", nullptr},
    {"col_indices", Tensor_col_indices, nullptr,
     "uint64 Tensor of shape (nnz,), sharing memory; CSR only.", nullptr},
    {"row_ptr", Tensor_row_ptr, nullptr,
     "uint64 Tensor of shape (rows + 1,), sharing memory; CSR only.", nullptr},
    {"row_indices", Tensor_row_indices, nullptr,
     "uint64 Tensor of shape (nnz,), sharing memory; CSC only.", nullptr},
    {"col_ptr", Tensor_col_ptr, nullptr,
     "uint64 Tensor of shape (columns + 1,), sharing memory; CSC only.", nullptr},
    {"quantization", Tensor_quantization, nullptr, "a quantization scheme, or None.", nullptr},
    {"statistics", Tensor_statistics, nullptr, "Statistics or None.", nullptr},
    {"shard", Tensor_shard, nullptr, "Shard or None.", nullptr},
    {"extension_type", Tensor_extension_type, nullptr, "ExtensionType or None.", nullptr},
    {"descriptor", Tensor_descriptor, nullptr,
     "Descriptor: what is written for this tensor, with declared alignments.", nullptr},
    {"T", Tensor_T, nullptr,
     "Tensor: the transpose of a tensor of rank 2, sharing memory. ValueError for another rank, "
     "UnsupportedError for a layout without one.",
     nullptr},
    {"is_writable", Tensor_is_writable, nullptr, "bool: the memory may be written.", nullptr},
    {"owns_data", Tensor_owns_data, nullptr,
     "bool: the memory is the tensor's own, no foreign object is kept alive.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"dtype", T_OBJECT_EX, static_cast<Py_ssize_t>(offsetof(TensorObject, dtype)), READONLY,
     "Dtype: element type."},
    {"ndim", T_OBJECT_EX, static_cast<Py_ssize_t>(offsetof(TensorObject, ndim)), READONLY,
     "int: number of dimensions."},
    {"device", T_OBJECT_EX, static_cast<Py_ssize_t>(offsetof(TensorObject, device)), READONLY,
     "Device: where the bytes are declared to be."},
    {"__weaklistoffset__", T_PYSSIZET, static_cast<Py_ssize_t>(offsetof(TensorObject, weakrefs)),
     READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

// ---- methods

constexpr char kElementOffsetDoc[] = R"(element_offset($self, index)
--

Where in buffer 0 the element with a logical index is.

Parameters
----------
index : sequence of int, length ndim
    Each entry from 0 to below the extent of its dimension.

Returns
-------
int or None
    Linear offset in elements from the tensor's first byte (`Descriptor.byte_offset`); None for a
    coordinate that a sparse layout does not store.

Raises
------
IndexError
    If an entry is out of range.
TypeError
    If there are not `ndim` entries.
UnsupportedError
    For dynamic shapes, and layouts that define no offsets: block-paged, private and unknown ones.
InvalidDescriptorError
    If an index buffer of a sparse tensor contradicts itself.

Notes
-----
Format: section 5, "Layouts".

Examples
--------
>>> t = hurray.Tensor(bytes(48), hurray.float32, [3, 4], layout=hurray.ColMajorLayout())
>>> t.element_offset((1, 2))
7
)";

PyObject* Tensor_element_offset(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                PyObject* kwnames) {
  static constexpr Signature kElementOffset("element_offset", {"index"});
  return Guard(Py_TYPE(self), [&] {
    PyObject* argument = kElementOffset.Bind(args, nargs, kwnames)[0];
    const TensorObject* tensor = TensorOf(self);
    if (!IsDense(tensor->descriptor.layout())) {  // then index buffers are read
      CheckSynced(tensor->descriptor, ErrorCode::kUnsupported);
    }
    auto index = ToIndex(argument, tensor->descriptor.rank());
    auto spans = SpansOf(*tensor);
    return ToPython(ElementOffset(tensor->descriptor, {index.data(), index.size()}, spans))
        .release();
  });
}

constexpr char kValidateContentsDoc[] = R"(validate_contents($self)
--

Check what only the contents of the buffers can tell: index and pointer buffers of sparse layouts,
block tables, quantization parameters, statistics.

Never run implicitly: it reads whole buffers.

Raises
------
InvalidDescriptorError
    Naming buffer, position, value and rule.
UnsupportedError
    If the buffers may not be read yet (another sync mode than ``'producer_synced'``).

Notes
-----
Format: rules of level D.

Examples
--------
>>> hurray.Tensor(bytes(16), hurray.float32, [4]).validate_contents()
)";

PyObject* Tensor_validate_contents(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    const TensorObject* tensor = TensorOf(self);
    CheckSynced(tensor->descriptor, ErrorCode::kUnsupported);
    auto spans = SpansOf(*tensor);
    size_t total = 0;
    for (const auto& span : spans) total += span.size();
    WithoutGilIfLarge(total, [&] { CheckContents(tensor->descriptor, spans); });
    return Py_NewRef(Py_None);
  });
}

// Not PyObject_HashNotImplemented, whose message names the type with its module.
Py_hash_t Tensor_hash(PyObject*) {
  PyErr_SetString(PyExc_TypeError, "unhashable type: 'Tensor'");
  return -1;
}

PyMethodDef kMethods[] = {
    {"buffer", Method(Tensor_buffer), METH_FASTCALL | METH_KEYWORDS, kTensorBufferDoc},
    {"element_offset", Method(Tensor_element_offset), METH_FASTCALL | METH_KEYWORDS,
     kElementOffsetDoc},
    {"validate_contents", Method(Tensor_validate_contents), METH_NOARGS, kValidateContentsDoc},
    {"numpy", Method(Tensor_numpy), METH_NOARGS, kTensorNumpyDoc},
    {"to_scipy", Method(Tensor_to_scipy), METH_NOARGS, kTensorToScipyDoc},
    {"to_torch", Method(Tensor_to_torch), METH_NOARGS, kTensorToTorchDoc},
    {"__array__", Method(Tensor_array), METH_FASTCALL | METH_KEYWORDS, kTensorArrayDoc},
    {"__dlpack__", Method(Tensor_dlpack), METH_FASTCALL | METH_KEYWORDS, kTensorDlpackDoc},
    {"__dlpack_device__", Method(Tensor_dlpack_device), METH_NOARGS, kTensorDlpackDeviceDoc},
    {"__reduce_ex__", Method(Tensor_reduce_ex), METH_O, nullptr},
    {"__copy__", Method(Tensor_copy), METH_NOARGS, nullptr},
    {"__deepcopy__", Method(Tensor_deepcopy), METH_O, nullptr},
    {"__hurray__", Method(Tensor_hurray), METH_FASTCALL | METH_KEYWORDS, kTensorHurrayDoc},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_new, Slot(NewByVectorcall)},
    {Py_tp_traverse, Slot(Tensor_traverse)},
    {Py_tp_clear, Slot(Tensor_clear)},
    {Py_tp_dealloc, Slot(Tensor_dealloc)},
    {Py_tp_members, kMembers},
    {Py_tp_getset, kProperties},
    {Py_tp_methods, kMethods},
    {Py_tp_repr, Slot(Tensor_repr)},
    {Py_tp_str, Slot(Tensor_str)},
    {Py_tp_hash, Slot(Tensor_hash)},
    {Py_bf_getbuffer, Slot(Tensor_getbuffer)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.Tensor",
    .basicsize = sizeof(TensorObject),
    .itemsize = 0,
    .flags = kFinalType,
    .slots = kSlots,
};

}  // namespace

Ref NewTensor(ModuleState& state, TensorDescriptor descriptor, TensorBuffers buffers,
              PyObject* device) {
  TensorObject* tensor = AllocateTensor(state, descriptor.dtype(), descriptor.rank(), device);
  new (&tensor->descriptor) TensorDescriptor(std::move(descriptor));
  bool tracked = false;
  for (size_t i = 0; i < buffers.size(); ++i) tracked = tracked || MayRefer(buffers[i]);
  new (&tensor->buffers) TensorBuffers(std::move(buffers));
  return Finished(tensor, tracked);
}

Ref NewDenseTensor(ModuleState& state, ElementType dtype, ShapeView shape, Buffer buffer) {
  uint64_t size = buffer.size();
  if (shape.size() > kShortRank) {
    return NewTensor(state, DenseDescriptor(dtype, Shape(shape), size), std::move(buffer),
                     state.cpu_device);
  }
  TensorObject* tensor = AllocateTensor(state, dtype, shape.size(), state.cpu_device);
  new (&tensor->descriptor) TensorDescriptor(dtype, shape, BufferHandle::Of(size, Device{}));
  bool tracked = MayRefer(buffer);
  new (&tensor->buffers) TensorBuffers(std::move(buffer));
  return Finished(tensor, tracked);
}

Ref NewTensor(ModuleState& state, TensorDescriptor descriptor, TensorBuffers buffers) {
  Ref device = DeviceToPython(state, descriptor.device());
  return NewTensor(state, std::move(descriptor), std::move(buffers), device.get());
}

std::vector<std::span<const uint8_t>> SpansOf(const TensorObject& tensor) {
  std::vector<std::span<const uint8_t>> spans(tensor.buffers.size());
  for (size_t i = 0; i < spans.size(); ++i) {
    // Not more than declared: a shared buffer may be longer.
    spans[i] = tensor.buffers[i].bytes().first(
        static_cast<size_t>(tensor.descriptor.buffers()[i].byte_size));
  }
  return spans;
}

PyObject* ShapeTupleOf(TensorObject* tensor) {
  if (tensor->shape == nullptr) {
    Ref made = ShapeToTuple(tensor->descriptor.shape());
    // Making it may have run Python code that made it first.
    if (tensor->shape == nullptr) tensor->shape = made.release();
  }
  return tensor->shape;
}

void CheckSynced(const TensorDescriptor& descriptor, ErrorCode code) {
  SyncMode mode = descriptor.sync_mode();
  if (mode != SyncMode::kProducerSynced) {
    throw Error(code, StrCat("sync mode is ", SyncModeName(mode),
                             ": the bytes may not be touched before their producer is waited for, "
                             "which this version cannot do"));
  }
}

TensorDescriptor DenseDescriptor(ElementType dtype, Shape shape, uint64_t byte_size, Device device,
                                 std::shared_ptr<const DescriptorSections> sections) {
  return TensorDescriptor(dtype, std::move(shape), RowMajorLayout{},
                          BufferTable{BufferHandle::Of(byte_size, device)}, 0, std::move(sections));
}

int AddTensor(PyObject* module, ModuleState& state) {
  state.tensor_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.tensor_type == nullptr) return -1;
  auto* type = AsType(state.tensor_type);
  type->tp_vectorcall = Tensor_vectorcall;  // no slot for it before CPython 3.14
  for (size_t rank = 0; rank <= kMaxRank; ++rank) {
    Ref integer = Ref::StealOrNull(PyLong_FromSize_t(rank));
    if (!integer) return -1;
    state.ranks[rank] = integer.get();
  }
  state.spare_tensors.Open();
  // What tells collections.abc.Hashable, beside the function that says it to hash().
  if (PyDict_SetItemString(type->tp_dict, "__hash__", Py_None) < 0) return -1;
  PyType_Modified(type);
  return PyModule_AddType(module, type);
}

}  // namespace hurray
