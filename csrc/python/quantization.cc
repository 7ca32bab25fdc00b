#include "python/quantization.h"

#include "python/arguments.h"
#include "python/errors.h"
#include "python/schemes/scheme_class.h"
#include "python/value_type.h"

namespace hurray {

namespace {

std::vector<uint8_t> Encoded(PyObject* self) {
  Quantization quantization{ValueOf<QuantizationScheme>(self), {}};
  std::vector<uint8_t> bytes(quantization.encoded_size());
  ByteWriter out(bytes);
  quantization.Encode(out);
  return bytes;
}

template <typename... S>
void AddSchemeClasses(PyObject* module, ModuleState& state,
                      std::type_identity<std::variant<S...>>) {
  ((state.scheme_types[kAlternative<S, QuantizationScheme>] =
        AddSchemeClass(std::type_identity<S>(), module).release()),
   ...);
}

// ---- module functions

constexpr char kDecodeDoc[] = R"(decode_quantization(data)
--

The quantization scheme that the bytes of a descriptor's quantization section describe.

Parameters
----------
data : bytes-like
    Bytes behind the scheme's fields are ignored.

Returns
-------
PerTensorAffine, PerChannelAffine, PerBlockAffine, NF4 or MXFP

Raises
------
InvalidDescriptorError
    If `data` is too short, its tag, version or flags are unknown, a reserved byte is not 0, or a
    value is outside its range.

Notes
-----
Format: section 7, "Quantization".

Examples
--------
>>> hurray.decode_quantization(hurray.NF4(1, 64, 1).encode())
NF4(axis=1, block_size=64, scale_buffer_index=1)
)";

constexpr Signature kDecode("decode_quantization", {"data"});

PyObject* DecodeQuantization(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames) {
  return Guard(module, [&] {
    auto [data] = kDecode.Bind(args, nargs, kwnames);
    BytesView view(data, "data", std::nullopt);
    return QuantizationToPython(StateOf(module), Quantization::Decode(view.bytes())).release();
  });
}

PyMethodDef kFunctions[] = {
    {"decode_quantization", Method(DecodeQuantization), METH_FASTCALL | METH_KEYWORDS, kDecodeDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

const char kSchemeEncodeDoc[] = R"(encode($self)
--

The bytes of the descriptor's quantization section, without its length field.

Returns
-------
bytes
    What `hurray.decode_quantization` turns into an equal object.

Notes
-----
Format: section 7, "Quantization".

Examples
--------
>>> hurray.NF4(1, 64, 1).encode().hex()
'04010000010000004000000001000000'
)";

PyObject* Scheme_encode(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] { return BytesToPython(Encoded(self)).release(); });
}

Py_hash_t Scheme_hash(PyObject* self) {
  return Guard(Py_TYPE(self), [&] { return HashOfBytes(Encoded(self)); });
}

Ref QuantizationToPython(const ModuleState& state, const Quantization& quantization) {
  return NewValue(AsType(state.scheme_types[quantization.scheme.index()]), quantization.scheme);
}

Quantization ToQuantization(const ModuleState& state, PyObject* object, std::string_view name) {
  for (PyObject* type : state.scheme_types) {
    if (Py_TYPE(object) == AsType(type)) return {ValueOf<QuantizationScheme>(object), {}};
  }
  ThrowInvalidDescriptor(StrCat(name,
                                " must be a PerTensorAffine, PerChannelAffine, PerBlockAffine, "
                                "NF4 or MXFP, not ",
                                TypeName(object)));
}

int AddQuantization(PyObject* module, ModuleState& state) {
  return Guard(module, [&] {
    AddSchemeClasses(module, state, std::type_identity<QuantizationScheme>());
    return PyModule_AddFunctions(module, kFunctions);
  });
}

}  // namespace hurray
