#include "python/extension_type.h"

#include "python/arguments.h"
#include "python/errors.h"
#include "python/parameters.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr char kDoc[] =
    R"(ExtensionType(bit_width, *, is_float=False, is_signed=False, sign_bits=0, exponent_bits=0,
              mantissa_bits=0, exponent_bias=0, has_nan=False, has_inf=False)
--

The description of a private element type, whose tag tells nothing about it.

Elements stay opaque: they are sized, kept and relayed, never interpreted.

Parameters
----------
bit_width : int
    Bits of an element: 1, 2, 4, or 8 and more.
is_float : bool, optional
    A floating-point type.
is_signed : bool, optional
    A signed integer type; a float tells its sign by `sign_bits`.
sign_bits : int, optional
    Sign bits of a float: 0 or 1.
exponent_bits, mantissa_bits : int, optional
    Bits of a float's exponent and mantissa, at most 255 each.
exponent_bias : int, optional
    What a float's stored exponent exceeds the real one by.
has_nan, has_inf : bool, optional
    Whether a float has codes for NaN and for infinity.

Raises
------
InvalidDescriptorError
    If `bit_width` is 0, 3, 5, 6 or 7, `sign_bits` exceeds 1, a float is signed, or a field of
    floats is set without `is_float`.
OverflowError
    If a number is negative or its field cannot hold it.

Notes
-----
Format: section 6.4, "Extension type".

Examples
--------
>>> hurray.ExtensionType(bit_width=24, is_signed=True)
ExtensionType(bit_width=24, is_signed=True)
>>> dtype = hurray.Dtype.from_tag(0xF2)
>>> extension_type = hurray.ExtensionType(bit_width=24)
>>> t = hurray.Tensor(bytes(12), dtype, [4], extension_type=extension_type)
>>> t.extension_type
ExtensionType(bit_width=24)
)";

constexpr std::array<Parameter<ExtensionType>, 9> kParameters{{
    {"bit_width", kField<&ExtensionType::bit_width>, "int: bits of an element."},
    {"is_float", kField<&ExtensionType::is_float>, "bool: a floating-point type."},
    {"is_signed", kField<&ExtensionType::is_signed>, "bool: a signed integer type."},
    {"sign_bits", kField<&ExtensionType::sign_bits>, "int: sign bits of a float."},
    {"exponent_bits", kField<&ExtensionType::exponent_bits>, "int: bits of a float's exponent."},
    {"mantissa_bits", kField<&ExtensionType::mantissa_bits>, "int: bits of a float's mantissa."},
    {"exponent_bias", kField<&ExtensionType::exponent_bias>,
     "int: what a float's stored exponent exceeds the real one by."},
    {"has_nan", kField<&ExtensionType::has_nan>, "bool: a float with codes for NaN."},
    {"has_inf", kField<&ExtensionType::has_inf>, "bool: a float with codes for infinity."},
}};

// ---- lifetime

constexpr Signature kNew("ExtensionType",
                         {"bit_width", "is_float", "is_signed", "sign_bits", "exponent_bits",
                          "mantissa_bits", "exponent_bias", "has_nan", "has_inf"},
                         1, 1);

PyObject* ExtensionType_vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf,
                                   PyObject* kwnames) {
  auto* type = AsType(callable);
  return Guard(type, [&] {
    auto bound = kNew.Bind(args, nargsf, kwnames);
    auto flag = [&](size_t i) {
      return bound[i] != nullptr && ToBool(bound[i], kParameters[i].name);
    };
    auto bits = [&](size_t i) {
      return bound[i] == nullptr ? uint8_t{0} : ToInteger<uint8_t>(bound[i], kParameters[i].name);
    };
    ExtensionType extension;
    extension.bit_width = ToInteger<uint32_t>(bound[0], "bit_width");
    extension.is_float = flag(1);
    extension.is_signed = flag(2);
    extension.sign_bits = bits(3);
    extension.exponent_bits = bits(4);
    extension.mantissa_bits = bits(5);
    if (bound[6] != nullptr) {
      extension.exponent_bias = ToInteger<uint32_t>(bound[6], "exponent_bias");
    }
    extension.has_nan = flag(7);
    extension.has_inf = flag(8);
    extension.Check();
    return NewValue(type, extension).release();
  });
}

// ---- properties

PyObject* ExtensionType_packing_factor(PyObject* self, void*) {
  return PyLong_FromLong(ValueOf<ExtensionType>(self).packing_factor());
}

auto kProperties = ParameterProperties<ExtensionType, ExtensionType, kParameters.size(), 1>(
    kParameters, {{{"packing_factor", ExtensionType_packing_factor, nullptr,
                    "int: elements in a byte for widths below 8, else 1.", nullptr}}});

// ---- methods

constexpr char kBufferSizeBytesDoc[] = R"(buffer_size_bytes($self, element_count)
--

The bytes that a buffer needs for `element_count` packed elements.

Parameters
----------
element_count : int

Returns
-------
int
    Bytes.

Raises
------
OverflowError
    If `element_count` or the result is negative or exceeds 2^64-1.

Notes
-----
Format: section 6.4, "Extension type".

Examples
--------
>>> hurray.ExtensionType(bit_width=24).buffer_size_bytes(10)
30
>>> hurray.ExtensionType(bit_width=4).buffer_size_bytes(7)
4
)";

constexpr Signature kBufferSizeBytes("buffer_size_bytes", {"element_count"});

PyObject* ExtensionType_buffer_size_bytes(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                          PyObject* kwnames) {
  return Guard(Py_TYPE(self), [&] {
    auto [argument] = kBufferSizeBytes.Bind(args, nargs, kwnames);
    auto count = ToInteger<uint64_t>(argument, "element_count");
    auto size = ValueOf<ExtensionType>(self).packing().SizeBytes(count);
    if (!size) {
      ThrowOverflowError(StrCat("element_count is ", count, ": the bytes of so many elements of ",
                                ValueOf<ExtensionType>(self).bit_width, " bits exceed 2^64-1"));
    }
    return ToPython(*size).release();
  });
}

// Calls `visit(name, value)` for each argument that is not the default, which is 0 or False.
template <typename Visit>
void ForEachGiven(PyObject* self, Visit&& visit) {
  for (const auto& parameter : kParameters) {
    Ref value = parameter.get(StateOf(Py_TYPE(self)), ValueOf<ExtensionType>(self));
    if (Checked(PyObject_IsTrue(value.get())) == 1) visit(parameter.name, value.get());
  }
}

PyObject* ExtensionType_repr(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    CallText text("ExtensionType");
    ForEachGiven(self, [&](const char* name, PyObject* value) { text.Add(name, value); });
    return ToPython(text.Done()).release();
  });
}

PyObject* ExtensionType_reduce(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Ref keywords = Ref::Steal(PyDict_New());
    ForEachGiven(self, [&](const char* name, PyObject* value) {
      Checked(PyDict_SetItemString(keywords.get(), name, value));
    });
    return ReduceToKeywords(Py_TYPE(self), keywords).release();
  });
}

Py_hash_t ExtensionType_hash(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    std::array<uint8_t, ExtensionType::kEncodedSize> encoded;
    ByteWriter out(encoded);
    ValueOf<ExtensionType>(self).Encode(out);
    return HashOfBytes(encoded);
  });
}

PyMethodDef kMethods[] = {
    {"buffer_size_bytes", Method(ExtensionType_buffer_size_bytes), METH_FASTCALL | METH_KEYWORDS,
     kBufferSizeBytesDoc},
    {"__reduce__", Method(ExtensionType_reduce), METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_new, Slot(NewByVectorcall)},
    {Py_tp_traverse, Slot(Value_traverse<ExtensionType>)},
    {Py_tp_dealloc, Slot(Value_dealloc<ExtensionType>)},
    {Py_tp_members, WeakrefMember<ExtensionType>()},
    {Py_tp_getset, kProperties.data()},
    {Py_tp_methods, kMethods},
    {Py_tp_repr, Slot(ExtensionType_repr)},
    {Py_tp_richcompare, Slot(Value_richcompare<ExtensionType>)},
    {Py_tp_hash, Slot(ExtensionType_hash)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.ExtensionType",
    .basicsize = sizeof(ValueObject<ExtensionType>),
    .itemsize = 0,
    .flags = kFinalType,
    .slots = kSlots,
};

}  // namespace

Ref ExtensionTypeToPython(const ModuleState& state, const ExtensionType& type) {
  return NewValue(AsType(state.extension_type_type), type);
}

ExtensionType ToExtensionType(const ModuleState& state, PyObject* object, std::string_view name) {
  if (Py_TYPE(object) != AsType(state.extension_type_type)) {
    ThrowTypeError(StrCat(name, " must be a hurray.ExtensionType, not ", TypeName(object)));
  }
  return ValueOf<ExtensionType>(object);
}

int AddExtensionType(PyObject* module, ModuleState& state) {
  state.extension_type_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.extension_type_type == nullptr) return -1;
  auto* type = AsType(state.extension_type_type);
  type->tp_vectorcall = ExtensionType_vectorcall;  // no slot for it before CPython 3.14
  return PyModule_AddType(module, type);
}

}  // namespace hurray
