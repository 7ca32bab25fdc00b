#include "python/shard.h"

#include "python/arguments.h"
#include "python/errors.h"
#include "python/parameters.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr char kDoc[] = R"(Shard(parent_shape, shard_offset)
--

The place of a tensor inside a larger one.

Parameters
----------
parent_shape : sequence of int, length n
    Extents of the parent, in elements.
shard_offset : sequence of int, length n
    Index in the parent of the shard's first element.

Raises
------
InvalidDescriptorError
    If the lengths differ or exceed 64, or an entry is negative, None or 2^64-1.
OverflowError
    If an entry is 2^64 or more.

Notes
-----
Format: section 6.2, "Shard". Whether a tensor of some shape fits there is checked by the tensor.

Examples
--------
>>> shard = hurray.Shard([8, 8], [0, 4])
>>> shard.parent_shape
(8, 8)
>>> hurray.Tensor(bytes(128), hurray.float32, [8, 4], shard=shard).shard
Shard(parent_shape=[8, 8], shard_offset=[0, 4])
)";

constexpr std::array<Parameter<Shard>, 2> kParameters{{
    {"parent_shape",
     [](const ModuleState&, const Shard& shard) { return ToTuple(shard.parent_shape()); },
     "tuple of int: extents of the parent, in elements."},
    {"shard_offset", [](const ModuleState&, const Shard& shard) { return ToTuple(shard.offset()); },
     "tuple of int: index in the parent of the shard's first element."},
}};

// ---- lifetime

constexpr Signature kNew("Shard", {"parent_shape", "shard_offset"});

PyObject* Shard_vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf,
                           PyObject* kwnames) {
  auto* type = AsType(callable);
  return Guard(type, [&] {
    auto [parent_shape, offset] = kNew.Bind(args, nargsf, kwnames);
    Shape parent = ToStaticExtents(parent_shape, "parent_shape");
    return NewValue(type, Shard(std::move(parent), ToStaticExtents(offset, "shard_offset")))
        .release();
  });
}

// ---- properties

auto kProperties = ParameterProperties<Shard, Shard>(kParameters);

// ---- methods

PyObject* Shard_repr(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    const Shard& shard = ValueOf<Shard>(self);
    return ToPython(
               CallText("Shard")
                   .Add("parent_shape",
                        ShapeText({shard.parent_shape().data(), shard.parent_shape().size()}))
                   .Add("shard_offset", ShapeText({shard.offset().data(), shard.offset().size()}))
                   .Done())
        .release();
  });
}

PyObject* Shard_reduce(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Ref arguments = ParameterTuple(StateOf(Py_TYPE(self)), ValueOf<Shard>(self), kParameters);
    return ReduceTo(reinterpret_cast<PyObject*>(Py_TYPE(self)), arguments).release();
  });
}

Py_hash_t Shard_hash(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    std::vector<uint8_t> encoded(ValueOf<Shard>(self).encoded_size());
    ByteWriter out(encoded);
    ValueOf<Shard>(self).Encode(out);
    return HashOfBytes(encoded);
  });
}

PyMethodDef kMethods[] = {
    {"__reduce__", Method(Shard_reduce), METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_new, Slot(NewByVectorcall)},
    {Py_tp_traverse, Slot(Value_traverse<Shard>)},
    {Py_tp_dealloc, Slot(Value_dealloc<Shard>)},
    {Py_tp_members, WeakrefMember<Shard>()},
    {Py_tp_getset, kProperties.data()},
    {Py_tp_methods, kMethods},
    {Py_tp_repr, Slot(Shard_repr)},
    {Py_tp_richcompare, Slot(Value_richcompare<Shard>)},
    {Py_tp_hash, Slot(Shard_hash)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.Shard",
    .basicsize = sizeof(ValueObject<Shard>),
    .itemsize = 0,
    .flags = kFinalType,
    .slots = kSlots,
};

}  // namespace

Ref ShardToPython(const ModuleState& state, const Shard& shard) {
  return NewValue(AsType(state.shard_type), shard);
}

Shard ToShard(const ModuleState& state, PyObject* object, std::string_view name) {
  if (Py_TYPE(object) != AsType(state.shard_type)) {
    ThrowTypeError(StrCat(name, " must be a hurray.Shard, not ", TypeName(object)));
  }
  return ValueOf<Shard>(object);
}

int AddShard(PyObject* module, ModuleState& state) {
  state.shard_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.shard_type == nullptr) return -1;
  auto* type = AsType(state.shard_type);
  type->tp_vectorcall = Shard_vectorcall;  // no slot for it before CPython 3.14
  return PyModule_AddType(module, type);
}

}  // namespace hurray
