// What the files beside this one share: each describes the Python class of one quantization scheme.
#pragma once

#include <Python.h>

#include <string>
#include <type_traits>
#include <vector>

#include "core/quantization.h"
#include "python/class_from_parameters.h"

namespace hurray {

// The start of a description for AddClass(): objects of all scheme classes hold the variant.
template <typename S>
struct SchemeClass {
  using Kind = S;
  using Held = QuantizationScheme;
  static const std::array<PyMethodDef, 1> kMethods;
};

// Creates the class of one alternative of QuantizationScheme; defined in the file of that scheme.
// Returns a new reference.
Ref AddSchemeClass(std::type_identity<PerTensorAffine>, PyObject* module);
Ref AddSchemeClass(std::type_identity<PerChannelAffine>, PyObject* module);
Ref AddSchemeClass(std::type_identity<PerBlockAffine>, PyObject* module);
Ref AddSchemeClass(std::type_identity<Nf4>, PyObject* module);
Ref AddSchemeClass(std::type_identity<Mxfp>, PyObject* module);

// ---- methods of all schemes, defined in quantization.cc

extern const char kSchemeEncodeDoc[];
PyObject* Scheme_encode(PyObject* self, PyObject*);
Py_hash_t Scheme_hash(PyObject* self);

template <typename S>
inline const std::array<PyMethodDef, 1> SchemeClass<S>::kMethods{
    {{"encode", Scheme_encode, METH_NOARGS, kSchemeEncodeDoc}}};

// `hash` may be PyObject_HashNotImplemented.
template <typename Class>
Ref AddScheme(PyObject* module, hashfunc hash) {
  return AddClass<Class>(
      module, nullptr,
      {{Py_tp_richcompare, Slot(Value_richcompare<QuantizationScheme>)}, {Py_tp_hash, Slot(hash)}});
}

// ---- arguments and parameters that several schemes have

inline uint32_t ToU32(PyObject* object, std::string_view name) {
  return ToInteger<uint32_t>(object, name);
}

inline constexpr char kBlockAxisDoc[] = "int: the dimension that is cut into blocks.";
inline constexpr char kBlockSizeDoc[] = "int: elements in a block.";
inline constexpr char kScaleBufferDoc[] = "int: the buffer that holds the scales.";

// Of NF4 and MXFP.
template <typename Blocked>
inline constexpr std::array<Parameter<Blocked>, 3> kBlockScaleParameters{{
    {"axis", kField<&Blocked::axis>, kBlockAxisDoc},
    {"block_size", kField<&Blocked::block_size>, kBlockSizeDoc},
    {"scale_buffer_index", kField<&Blocked::scale_buffer_index>, kScaleBufferDoc},
}};

template <typename Blocked>
Blocked MakeBlockScaled(const std::array<PyObject*, 3>& arguments) {
  auto [axis, block_size, scale] = arguments;
  return {ToU32(axis, "axis"), ToU32(block_size, "block_size"), ToU32(scale, "scale_buffer_index")};
}

}  // namespace hurray
