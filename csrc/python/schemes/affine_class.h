// What PerChannelAffine and PerBlockAffine share: two class methods make them, one without zero
// points and one with.
#pragma once

#include "python/schemes/scheme_class.h"

namespace hurray {

inline constexpr char kZeroPointBufferDoc[] =
    "int or None: the buffer that holds the zero points; None for a symmetric scheme.";

template <typename Class>
PyObject* Affine_symmetric(PyObject* cls, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames) {
  auto* type = AsType(cls);
  return Guard(type, [&] {
    auto kind = Class::MakeSymmetric(StateOf(type), Class::kSymmetric.Bind(args, nargs, kwnames));
    kind.Check();
    return NewValue(type, QuantizationScheme(kind)).release();
  });
}

template <typename Class>
PyObject* Affine_asymmetric(PyObject* cls, PyObject* const* args, Py_ssize_t nargs,
                            PyObject* kwnames) {
  auto* type = AsType(cls);
  return Guard(type, [&] {
    auto kind = Class::MakeAsymmetric(StateOf(type), Class::kAsymmetric.Bind(args, nargs, kwnames));
    kind.Check();
    return NewValue(type, QuantizationScheme(kind)).release();
  });
}

// The start of a description `Class`, which adds kSymmetric, kSymmetricDoc and MakeSymmetric(), the
// same for asymmetric, and what every description has.
template <typename S, typename Class>
struct AffineClass : SchemeClass<S> {
  static std::string Text(const ModuleState& state, const S& kind) {
    CallText text(StrCat(ShortName<Class>(), ".", Maker(kind)));
    ForEachArgument(state, kind, [&](const char* name, PyObject* value) { text.Add(name, value); });
    return text.Done();
  }

  static Ref Reduce(PyObject* type, const ModuleState& state, const S& kind) {
    Ref maker = Ref::Steal(PyObject_GetAttrString(type, Maker(kind)));
    Ref arguments = Ref::Steal(PyList_New(0));
    ForEachArgument(state, kind, [&](const char*, PyObject* value) {
      Checked(PyList_Append(arguments.get(), value));
    });
    return ReduceTo(maker.get(), Ref::Steal(PyList_AsTuple(arguments.get())));
  }

  static const std::array<PyMethodDef, 3> kMethods;

 private:
  static const char* Maker(const S& kind) noexcept {
    return kind.zero_point_buffer_index ? "asymmetric" : "symmetric";
  }
  // Calls `visit(name, value)` for each argument of the class method that made it.
  template <typename Visit>
  static void ForEachArgument(const ModuleState& state, const S& kind, Visit&& visit) {
    for (const Parameter<S>& parameter : Class::kParameters) {
      Ref value = parameter.get(state, kind);
      if (value.get() != Py_None) visit(parameter.name, value.get());
    }
  }
};

template <typename S, typename Class>
inline const std::array<PyMethodDef, 3> AffineClass<S, Class>::kMethods{{
    {"symmetric", Method(Affine_symmetric<Class>), METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     Class::kSymmetricDoc},
    {"asymmetric", Method(Affine_asymmetric<Class>), METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     Class::kAsymmetricDoc},
    {"encode", Scheme_encode, METH_NOARGS, kSchemeEncodeDoc},
}};

}  // namespace hurray
