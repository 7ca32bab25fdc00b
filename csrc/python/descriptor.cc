#include "python/descriptor.h"

#include <structmember.h>

#include <new>

#include "python/arguments.h"
#include "python/buffer_handle.h"
#include "python/device.h"
#include "python/dtype.h"
#include "python/errors.h"
#include "python/extension_type.h"
#include "python/layout.h"
#include "python/pickling.h"
#include "python/quantization.h"
#include "python/shard.h"
#include "python/statistics.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr char kDoc[] =
    R"(Everything that a tensor says about itself on the wire; its bytes excepted.

Not constructible; `Tensor.descriptor`, `Composite.descriptor` and `Descriptor.decode` give them.
Two descriptors are equal if every field is, declared alignments included.

Notes
-----
Format: section 3, "Tensor descriptor".

Examples
--------
>>> descriptor = hurray.Tensor(bytes(48), hurray.float32, [3, 4]).descriptor
>>> descriptor
hurray.Descriptor(dtype=float32, shape=(3, 4), layout='row_major', buffers=1)
>>> len(descriptor.encode())
61
)";

struct DescriptorObject {
  PyObject_HEAD
  PyObject* weakrefs;
  PyObject* device;
  PyObject* encoded;  // bytes, made by the first encode()
  TensorDescriptor descriptor;
};

DescriptorObject* ObjectOf(PyObject* self) { return reinterpret_cast<DescriptorObject*>(self); }
const TensorDescriptor& Of(PyObject* self) { return ObjectOf(self)->descriptor; }

// ---- lifetime

int Descriptor_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(ObjectOf(self)->device);
  return 0;
}

int Descriptor_clear(PyObject* self) {
  Py_CLEAR(ObjectOf(self)->device);
  Py_CLEAR(ObjectOf(self)->encoded);
  return 0;
}

void Descriptor_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (ObjectOf(self)->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  Descriptor_clear(self);
  ObjectOf(self)->descriptor.~TensorDescriptor();
  type->tp_free(self);
  Py_DECREF(type);
}

// ---- properties

PyObject* Descriptor_dtype(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return Py_NewRef(DtypeObjectOf(StateOf(Py_TYPE(self)), Of(self).dtype())); });
}
PyObject* Descriptor_shape(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] { return ShapeToTuple(Of(self).shape()).release(); });
}
PyObject* Descriptor_ndim(PyObject* self, void*) { return PyLong_FromSize_t(Of(self).rank()); }
PyObject* Descriptor_size(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] { return SizeToPython(Of(self).shape()).release(); });
}
PyObject* Descriptor_layout(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return LayoutToPython(StateOf(Py_TYPE(self)), Of(self).layout()).release(); });
}
PyObject* Descriptor_buffer_handles(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    return HandlesToTuple(StateOf(Py_TYPE(self)), Of(self).buffers(), ObjectOf(self)->device)
        .release();
  });
}
PyObject* Descriptor_buffer_count(PyObject* self, void*) {
  return PyLong_FromSize_t(Of(self).buffers().size());
}
PyObject* Descriptor_quantization(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return QuantizationOf(StateOf(Py_TYPE(self)), Of(self)).release(); });
}
PyObject* Descriptor_statistics(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return StatisticsOf(StateOf(Py_TYPE(self)), Of(self)).release(); });
}
PyObject* Descriptor_shard(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] { return ShardOf(StateOf(Py_TYPE(self)), Of(self)).release(); });
}
PyObject* Descriptor_extension_type(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return ExtensionTypeOf(StateOf(Py_TYPE(self)), Of(self)).release(); });
}
PyObject* Descriptor_byte_offset(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(Of(self).byte_offset());
}
PyObject* Descriptor_version(PyObject* self, void*) {
  return Py_BuildValue("(ii)", TensorDescriptor::kVersionMajor, Of(self).version_minor());
}
PyObject* Descriptor_encoded_len(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] { return PyLong_FromSize_t(Of(self).encoded_size()); });
}

PyGetSetDef kProperties[] = {
    {"dtype", Descriptor_dtype, nullptr, "Dtype: element type.", nullptr},
    {"shape", Descriptor_shape, nullptr, "tuple of int: extents; None for a dynamic one.", nullptr},
    {"ndim", Descriptor_ndim, nullptr, "int: number of dimensions.", nullptr},
    {"size", Descriptor_size, nullptr, "int or None: number of elements.", nullptr},
    {"layout", Descriptor_layout, nullptr, "Layout: how elements lie in the buffers.", nullptr},
    {"buffer_handles", Descriptor_buffer_handles, nullptr,
     "tuple of BufferHandle: the buffer table, with declared alignments.", nullptr},
    {"buffer_count", Descriptor_buffer_count, nullptr,
     "int: rows of the buffer table; 0 for a composite head.", nullptr},
    {"quantization", Descriptor_quantization, nullptr, "a quantization scheme, or None.", nullptr},
    {"statistics", Descriptor_statistics, nullptr, "Statistics or None.", nullptr},
    {"shard", Descriptor_shard, nullptr, "Shard or None.", nullptr},
    {"extension_type", Descriptor_extension_type, nullptr, "ExtensionType or None.", nullptr},
    {"byte_offset", Descriptor_byte_offset, nullptr,
     "int: where the first element starts in buffer 0, in bytes.", nullptr},
    {"version", Descriptor_version, nullptr, "tuple of int: major and minor version.", nullptr},
    {"encoded_len", Descriptor_encoded_len, nullptr, "int: length of encode() in bytes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"device", T_OBJECT_EX, static_cast<Py_ssize_t>(offsetof(DescriptorObject, device)), READONLY,
     "Device: where all buffers are."},
    {"__weaklistoffset__", T_PYSSIZET,
     static_cast<Py_ssize_t>(offsetof(DescriptorObject, weakrefs)), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

// ---- methods

constexpr char kEncodeDoc[] = R"(encode($self)
--

The descriptor's bytes.

Returns
-------
bytes
    `encoded_len` bytes, which `decode` turns into an equal descriptor.

Raises
------
InvalidDescriptorError
    If it would exceed 4 GiB.

Notes
-----
Format: section 3, "Tensor descriptor".

Examples
--------
>>> hurray.Tensor(bytes(48), hurray.float32, [3, 4]).descriptor.encode()[:4]
b'HRRY'
)";

PyObject* Descriptor_encode(PyObject* self, PyObject*) {
  if (PyObject* encoded = ObjectOf(self)->encoded) return Py_NewRef(encoded);
  return Guard(Py_TYPE(self), [&] {
    const TensorDescriptor& descriptor = Of(self);
    size_t size = descriptor.encoded_size();
    Ref bytes = Ref::Steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    descriptor.EncodeTo({reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(bytes.get())), size});
    ObjectOf(self)->encoded = Py_NewRef(bytes.get());
    return bytes.release();
  });
}

constexpr char kDecodeDoc[] = R"(decode($type, data, *, permissive=False)
--

The descriptor at the front of `data`.

Parameters
----------
data : bytes-like
    Bytes behind the descriptor are ignored.
permissive : bool, optional
    Keep a layout of a newer version of the format as an `UnknownLayout`.

Returns
-------
Descriptor

Raises
------
InvalidDescriptorError
    If it is truncated or breaks a rule; the message names the field, the value found and the
    value allowed.

Notes
-----
Format: section 3, "Tensor descriptor".

Examples
--------
>>> data = hurray.Tensor(bytes(8), hurray.int8, [8]).descriptor.encode()
>>> hurray.Descriptor.decode(data).shape
(8,)
)";

// Decodes straight into the new object.
Ref DecodeToPython(ModuleState& state, std::span<const uint8_t> bytes, Mode mode) {
  auto* type = AsType(state.descriptor_type);
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) throw PythonError();
  try {
    new (&ObjectOf(self)->descriptor) TensorDescriptor(TensorDescriptor::Decode(bytes, mode));
  } catch (...) {
    // Dealloc must not meet half an object.
    PyObject_GC_UnTrack(self);
    type->tp_free(self);
    Py_DECREF(type);
    throw;
  }
  Ref made = Ref::Steal(self);
  ObjectOf(self)->device = DeviceToPython(state, Of(self).device()).release();
  return made;
}

constexpr Signature kDecode("decode", {"data", "permissive"}, 1, 1);

PyObject* Descriptor_decode(PyObject* cls, PyObject* const* args, Py_ssize_t nargs,
                            PyObject* kwnames) {
  auto* type = AsType(cls);
  return Guard(type, [&] {
    auto [data, permissive] = kDecode.Bind(args, nargs, kwnames);
    Mode mode = permissive != nullptr && ToBool(permissive, "permissive") ? Mode::kPermissive
                                                                          : Mode::kStrict;
    ModuleState& state = StateOf(type);
    if (PyBytes_CheckExact(data)) {  // no export to hold: bytes never change
      return DecodeToPython(state,
                            {reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(data)),
                             static_cast<size_t>(PyBytes_GET_SIZE(data))},
                            mode)
          .release();
    }
    BytesView view(data, "data", std::nullopt);
    return DecodeToPython(state, view.bytes(), mode).release();
  });
}

PyObject* Descriptor_repr(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    const TensorDescriptor& descriptor = Of(self);
    Ref shape = ShapeToTuple(descriptor.shape());
    std::string layout(LayoutName(descriptor.layout()));
    std::string dtype(descriptor.dtype().name());
    return PyUnicode_FromFormat("hurray.Descriptor(dtype=%s, shape=%R, layout='%s', buffers=%zu)",
                                dtype.c_str(), shape.get(), layout.c_str(),
                                descriptor.buffers().size());
  });
}

PyObject* Descriptor_richcompare(PyObject* self, PyObject* other, int op) {
  if (Py_TYPE(self) != Py_TYPE(other) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((Of(self) == Of(other)) == (op == Py_EQ));
}

PyMethodDef kMethods[] = {
    {"encode", Method(Descriptor_encode), METH_NOARGS, kEncodeDoc},
    {"decode", Method(Descriptor_decode), METH_FASTCALL | METH_KEYWORDS | METH_CLASS, kDecodeDoc},
    {"__reduce__", Method(Descriptor_reduce), METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_traverse, Slot(Descriptor_traverse)},
    {Py_tp_clear, Slot(Descriptor_clear)},
    {Py_tp_dealloc, Slot(Descriptor_dealloc)},
    {Py_tp_members, kMembers},
    {Py_tp_getset, kProperties},
    {Py_tp_methods, kMethods},
    {Py_tp_repr, Slot(Descriptor_repr)},
    {Py_tp_richcompare, Slot(Descriptor_richcompare)},
    {Py_tp_hash, Slot(PyObject_HashNotImplemented)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.Descriptor",
    .basicsize = sizeof(DescriptorObject),
    .itemsize = 0,
    .flags = kFinalNotConstructible,
    .slots = kSlots,
};

}  // namespace

Ref DescriptorToPython(ModuleState& state, TensorDescriptor descriptor, PyObject* device) {
  auto* type = AsType(state.descriptor_type);
  Ref self = Ref::Steal(type->tp_alloc(type, 0));
  ObjectOf(self.get())->device = Py_NewRef(device);
  new (&ObjectOf(self.get())->descriptor) TensorDescriptor(std::move(descriptor));
  return self;
}

Ref SizeToPython(ShapeView shape) {
  if (HasDynamicExtent(shape)) return Ref::None();
  if (auto count = ElementCount(shape)) return ToPython(*count);
  Ref product = ToPython(uint64_t{1});
  for (uint64_t extent : shape) {
    Ref factor = ToPython(extent);
    product = Ref::Steal(PyNumber_Multiply(product.get(), factor.get()));
  }
  return product;
}

Ref HandlesToTuple(ModuleState& state, std::span<const BufferHandle> handles, PyObject* device) {
  Ref tuple = Ref::Steal(PyTuple_New(static_cast<Py_ssize_t>(handles.size())));
  for (size_t i = 0; i < handles.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     BufferHandleToPython(state, handles[i], device).release());
  }
  return tuple;
}

Ref QuantizationOf(ModuleState& state, const TensorDescriptor& descriptor) {
  const Quantization* value = descriptor.quantization();
  return value == nullptr ? Ref::None() : QuantizationToPython(state, *value);
}
Ref StatisticsOf(ModuleState& state, const TensorDescriptor& descriptor) {
  const Statistics* value = descriptor.statistics();
  return value == nullptr ? Ref::None() : StatisticsToPython(state, *value);
}
Ref ShardOf(ModuleState& state, const TensorDescriptor& descriptor) {
  const Shard* value = descriptor.shard();
  return value == nullptr ? Ref::None() : ShardToPython(state, *value);
}
Ref ExtensionTypeOf(ModuleState& state, const TensorDescriptor& descriptor) {
  const ExtensionType* value = descriptor.extension_type();
  return value == nullptr ? Ref::None() : ExtensionTypeToPython(state, *value);
}

int AddDescriptor(PyObject* module, ModuleState& state) {
  state.descriptor_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.descriptor_type == nullptr) return -1;
  return PyModule_AddType(module, AsType(state.descriptor_type));
}

}  // namespace hurray
