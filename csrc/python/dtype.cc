#include "python/dtype.h"

#include "core/packing.h"
#include "python/arguments.h"
#include "python/errors.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr char kDoc[] = R"(The element type of a tensor.

Not constructible: every type is a singleton, an attribute of `hurray.dtype` (and of `hurray`
itself for the 13 types of tier 1), so types are compared with ``is`` or ``==`` and serve as dict
keys.

Notes
-----
Format: section 2, "Element types".

Examples
--------
>>> hurray.float32.name, hurray.float32.bit_width
('float32', 32)
>>> hurray.float32 is hurray.dtype.float32
True
>>> hurray.dtype.int4.is_array_api
False
)";

const ElementTypeInfo& InfoOf(PyObject* self) { return ValueOf<ElementType>(self).info(); }

// ---- properties

PyObject* Dtype_name(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] { return ToPython(InfoOf(self).name).release(); });
}
PyObject* Dtype_tag(PyObject* self, void*) { return PyLong_FromLong(InfoOf(self).tag); }
PyObject* Dtype_bit_width(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(InfoOf(self).bits);
}
PyObject* Dtype_tier(PyObject* self, void*) { return PyLong_FromLong(InfoOf(self).tier); }
PyObject* Dtype_is_float(PyObject* self, void*) { return PyBool_FromLong(InfoOf(self).is_float); }
PyObject* Dtype_is_integer(PyObject* self, void*) {
  return PyBool_FromLong(InfoOf(self).is_integer);
}
PyObject* Dtype_is_signed(PyObject* self, void*) { return PyBool_FromLong(InfoOf(self).is_signed); }
PyObject* Dtype_is_sub_byte(PyObject* self, void*) {
  return PyBool_FromLong(ValueOf<ElementType>(self).is_sub_byte());
}
PyObject* Dtype_is_array_api(PyObject* self, void*) {
  return PyBool_FromLong(InfoOf(self).tier == 1);
}
PyObject* Dtype_element_alignment(PyObject* self, void*) {
  return PyLong_FromLong(InfoOf(self).alignment);
}

PyGetSetDef kProperties[] = {
    {"name", Dtype_name, nullptr, "str: name of the type, ``'extension'`` for private ones.",
     nullptr},
    {"tag", Dtype_tag, nullptr, "int: the byte that stands for it in a descriptor.", nullptr},
    {"bit_width", Dtype_bit_width, nullptr, "int: bits of an element; 0 for private types.",
     nullptr},
    {"tier", Dtype_tier, nullptr, "int: 1 where every implementation has it, else 2.", nullptr},
    {"is_float", Dtype_is_float, nullptr, "bool: a floating-point or complex type.", nullptr},
    {"is_integer", Dtype_is_integer, nullptr, "bool: an integer type; bool is none.", nullptr},
    {"is_signed", Dtype_is_signed, nullptr, "bool: holds negative numbers.", nullptr},
    {"is_sub_byte", Dtype_is_sub_byte, nullptr, "bool: several elements share a byte.", nullptr},
    {"is_array_api", Dtype_is_array_api, nullptr, "bool: a type of tier 1.", nullptr},
    {"element_alignment", Dtype_element_alignment, nullptr,
     "int: natural alignment of an element, in bytes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// ---- methods

constexpr char kFromNameDoc[] = R"(from_name($type, name)
--

The type of that name.

Parameters
----------
name : str
    For example ``"float32"``; case matters.

Returns
-------
Dtype

Raises
------
InvalidDescriptorError
    If no type has the name.

Examples
--------
>>> hurray.Dtype.from_name("int4")
hurray.dtype.int4
)";

PyObject* Dtype_from_name(PyObject* cls, PyObject* name) {
  auto* type = AsType(cls);
  return Guard(type, [&] {
    std::string_view text = ToText(name, "name");
    auto found = ElementType::FromName(text);
    if (!found) {
      ThrowInvalidDescriptor(
          StrCat("name is ", ReprText(name), ", which no element type has; see hurray.dtype"));
    }
    return Py_NewRef(DtypeObjectOf(StateOf(type), *found));
  });
}

constexpr char kFromTagDoc[] = R"(from_tag($type, tag)
--

The type of that tag.

Parameters
----------
tag : int
    The byte that stands for the type in a descriptor; 0xF0 to 0xFE are private types.

Returns
-------
Dtype

Raises
------
InvalidDescriptorError
    If no type has the tag.
OverflowError
    If it is no byte.

Notes
-----
Format: section 2, "Element types".

Examples
--------
>>> hurray.Dtype.from_tag(0x03)
hurray.float32
>>> hurray.Dtype.from_tag(0xF2).name
'extension'
)";

PyObject* Dtype_from_tag(PyObject* cls, PyObject* tag) {
  auto* type = AsType(cls);
  return Guard(type, [&] {
    auto found = ElementType::FromTag(ToInteger<uint8_t>(tag, "tag"));
    return Py_NewRef(DtypeObjectOf(StateOf(type), found));
  });
}

PyObject* Dtype_repr(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    const ElementTypeInfo& info = InfoOf(self);
    if (info.bits == 0) {
      return ToPython(StrCat("hurray.Dtype.from_tag(", HexByte(info.tag), ")")).release();
    }
    return ToPython(StrCat(info.tier == 1 ? "hurray." : "hurray.dtype.", info.name)).release();
  });
}

// Pickles and copies as a call of from_tag, which gives the singleton again.
PyObject* Dtype_reduce(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Ref from_tag =
        Ref::Steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(self)), "from_tag"));
    return Py_BuildValue("(O(i))", from_tag.get(), InfoOf(self).tag);
  });
}

Py_hash_t Dtype_hash(PyObject* self) { return InfoOf(self).tag; }

constexpr Signature<1> kFromName("from_name", {"name"});
constexpr Signature<1> kFromTag("from_tag", {"tag"});

PyMethodDef kMethods[] = {
    {"from_name", Method(OneArgument<kFromName, Dtype_from_name>),
     METH_FASTCALL | METH_KEYWORDS | METH_CLASS, kFromNameDoc},
    {"from_tag", Method(OneArgument<kFromTag, Dtype_from_tag>),
     METH_FASTCALL | METH_KEYWORDS | METH_CLASS, kFromTagDoc},
    {"__reduce__", Method(Dtype_reduce), METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_traverse, Slot(Value_traverse<ElementType>)},
    {Py_tp_dealloc, Slot(Value_dealloc<ElementType>)},
    {Py_tp_members, WeakrefMember<ElementType>()},
    {Py_tp_getset, kProperties},
    {Py_tp_methods, kMethods},
    {Py_tp_repr, Slot(Dtype_repr)},
    {Py_tp_str, Slot(+[](PyObject* self) { return Dtype_name(self, nullptr); })},
    {Py_tp_richcompare, Slot(Value_richcompare<ElementType>)},
    {Py_tp_hash, Slot(Dtype_hash)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.Dtype",
    .basicsize = sizeof(ValueObject<ElementType>),
    .itemsize = 0,
    .flags = kFinalNotConstructible,
    .slots = kSlots,
};

// ---- module functions

constexpr char kBufferSizeBytesDoc[] = R"(buffer_size_bytes(dtype, count)
--

The bytes that a buffer needs for `count` packed elements.

Elements narrower than a byte are packed: 8 bools or 2 int4 to a byte, 4 six-bit floats to 3.

Parameters
----------
dtype : Dtype
count : int
    Number of elements.

Returns
-------
int
    Bytes.

Raises
------
InvalidDescriptorError
    If `dtype` is a private extension; `ExtensionType.buffer_size_bytes` knows its width.
OverflowError
    If `count` or the result is negative or exceeds 2^64-1.

Notes
-----
Format: section 2.1, "Packing and size".

Examples
--------
>>> hurray.buffer_size_bytes(hurray.float32, 100)
400
>>> hurray.buffer_size_bytes(hurray.dtype.int4, 7)
4
)";

constexpr Signature kBufferSizeBytes("buffer_size_bytes", {"dtype", "count"});

PyObject* BufferSizeBytes(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kBufferSizeBytes.Bind(args, nargs, kwnames);
    ElementType type = ToElementType(StateOf(module), bound[0], "dtype");
    auto count = ToInteger<uint64_t>(bound[1], "count");
    if (type.is_private()) {
      ThrowInvalidDescriptor(StrCat("dtype is the private extension ", HexByte(type.tag()),
                                    ", whose width is in the descriptor: use "
                                    "hurray.ExtensionType.buffer_size_bytes"));
    }
    auto size = Packing::Of(type).SizeBytes(count);
    if (!size) {
      ThrowOverflowError(StrCat("count is ", count, ": the bytes of so many ", type.name(),
                                " elements exceed 2^64-1"));
    }
    return ToPython(*size).release();
  });
}

PyMethodDef kFunctions[] = {
    {"buffer_size_bytes", Method(BufferSizeBytes), METH_FASTCALL | METH_KEYWORDS,
     kBufferSizeBytesDoc},
    {nullptr, nullptr, 0, nullptr},
};

int AddSingleton(ModuleState& state, uint8_t tag) {
  state.dtypes[tag] = NewValue(AsType(state.dtype_type), ElementType::FromTag(tag)).release();
  return 0;
}

}  // namespace

ElementType ElementTypeOf(PyObject* dtype) noexcept { return ValueOf<ElementType>(dtype); }

std::string NotADtypeMessage(PyObject* object, std::string_view name) {
  std::string hint;
  std::string spelled;
  if (PyUnicode_Check(object)) {
    const char* utf8 = PyUnicode_AsUTF8(object);
    if (utf8 == nullptr) PyErr_Clear();
    spelled = utf8 == nullptr ? "" : utf8;
  } else if (PyType_Check(object)) {
    spelled = AsType(object)->tp_name;  // np.float32 is the class "numpy.float32"
  } else if (std::string_view(Py_TYPE(object)->tp_name).starts_with("numpy.dtype")) {
    Ref text = Ref::StealOrNull(PyObject_Str(object));
    const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    if (utf8 == nullptr) PyErr_Clear();
    spelled = utf8 == nullptr ? "" : utf8;
  }
  if (auto dot = spelled.rfind('.'); dot != std::string::npos) spelled.erase(0, dot + 1);
  if (spelled == "bool_") spelled = "bool";
  if (auto type = ElementType::FromName(spelled)) {
    hint = StrCat("; use hurray.", type->info().tier == 1 ? "" : "dtype.", type->name());
  }
  return StrCat(name, " must be a hurray.Dtype, not ", TypeName(object), hint);
}

ElementType ToElementType(const ModuleState& state, PyObject* object, std::string_view name) {
  if (!IsDtype(state, object)) ThrowTypeError(NotADtypeMessage(object, name));
  return ElementTypeOf(object);
}

int AddDtype(PyObject* module, ModuleState& state) {
  state.dtype_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.dtype_type == nullptr) return -1;
  return Guard(module, [&] {
    for (const ElementTypeInfo& info : NamedElementTypes()) AddSingleton(state, info.tag);
    for (uint32_t tag = kFirstPrivateTag; tag <= kLastPrivateTag; ++tag) {
      AddSingleton(state, static_cast<uint8_t>(tag));
    }
    // What hurray.dtype is filled from.
    Ref named = Ref::Steal(PyTuple_New(static_cast<Py_ssize_t>(NamedElementTypes().size())));
    Py_ssize_t i = 0;
    for (const ElementTypeInfo& info : NamedElementTypes()) {
      PyTuple_SET_ITEM(named.get(), i++, Py_NewRef(state.dtypes[info.tag]));
    }
    Checked(PyModule_AddObjectRef(module, "_dtypes", named.get()));
    Checked(PyModule_AddFunctions(module, kFunctions));
    return PyModule_AddType(module, AsType(state.dtype_type));
  });
}

}  // namespace hurray
