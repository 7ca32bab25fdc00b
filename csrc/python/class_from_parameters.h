// Classes that a call with their parameters makes, all members of which follow from a description.
#pragma once

#include <Python.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "python/parameters.h"

namespace hurray {

// A description is a struct with these members, the last five optional:
//
//   Kind         the C++ value behind an object
//   Held         what objects hold: Kind, or a variant that has it
//   kName, kDoc  "hurray.StridedLayout" and the docstring
//   kParameters  an array of Parameter<Kind> in the order of the constructor
//   kNew         the constructor's Signature; without it the class is not constructible
//   Make()       makes a Kind from a ModuleState and the bound arguments; what Kind::Check()
//                says about it, if there is one, is asked afterwards
//   Text()       repr where it is not a call with all parameters
//   Reduce()     what __reduce__ returns where it is not such a call
//   kMethods     an array of PyMethodDef without an end mark
template <typename Class>
const typename Class::Kind& KindOf(PyObject* self) noexcept {
  return Part<typename Class::Kind>(ValueOf<typename Class::Held>(self));
}

template <typename Class>
constexpr std::string_view ShortName() noexcept {
  std::string_view name = Class::kName;
  return name.substr(name.rfind('.') + 1);
}

template <typename Class>
PyObject* Class_vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf,
                           PyObject* kwnames) {
  auto* type = AsType(callable);
  return Guard(type, [&] {
    auto arguments = Class::kNew.Bind(args, nargsf, kwnames);
    typename Class::Kind kind = Class::Make(StateOf(type), arguments);
    if constexpr (requires { kind.Check(); }) kind.Check();
    return NewValue(type, typename Class::Held(std::move(kind))).release();
  });
}

template <typename Class>
PyObject* Class_repr(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    const auto& kind = KindOf<Class>(self);
    const ModuleState& state = StateOf(Py_TYPE(self));
    if constexpr (requires { Class::Text(state, kind); }) {
      return ToPython(std::string_view(Class::Text(state, kind))).release();
    } else {
      CallText text(ShortName<Class>());
      text.AddAll(state, kind, Class::kParameters);
      return ToPython(text.Done()).release();
    }
  });
}

template <typename Class>
PyObject* Class_reduce(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(self));
    const ModuleState& state = StateOf(Py_TYPE(self));
    const auto& kind = KindOf<Class>(self);
    if constexpr (requires { Class::Reduce(type, state, kind); }) {
      return Class::Reduce(type, state, kind).release();
    } else {
      return ReduceTo(type, ParameterTuple(state, kind, Class::kParameters)).release();
    }
  });
}

// The methods of the description, then the one that pickles, then the end mark.
template <typename Class>
PyMethodDef* MethodsOf() {
  if constexpr (requires { Class::kMethods; }) {
    static auto rows = [] {
      std::array<PyMethodDef, std::size(Class::kMethods) + 2> out{};
      std::copy(std::begin(Class::kMethods), std::end(Class::kMethods), out.begin());
      out[std::size(Class::kMethods)] = {"__reduce__", Method(Class_reduce<Class>), METH_NOARGS,
                                         nullptr};
      return out;
    }();
    return rows.data();
  } else {
    static PyMethodDef rows[] = {
        {"__reduce__", Method(Class_reduce<Class>), METH_NOARGS, nullptr},
        {nullptr, nullptr, 0, nullptr},
    };
    return rows;
  }
}

// Creates the class and adds it to the module; `base` may be null, `more` are slots of its own.
// Returns a new reference.
template <typename Class>
Ref AddClass(PyObject* module, PyObject* base, std::initializer_list<PyType_Slot> more) {
  using Held = typename Class::Held;
  constexpr bool kConstructible = requires { Class::kNew; };
  static auto properties = ParameterProperties<typename Class::Kind, Held>(Class::kParameters);
  std::vector<PyType_Slot> slots = {
      {Py_tp_doc, const_cast<char*>(Class::kDoc)}, {Py_tp_traverse, Slot(Value_traverse<Held>)},
      {Py_tp_dealloc, Slot(Value_dealloc<Held>)},  {Py_tp_members, WeakrefMember<Held>()},
      {Py_tp_getset, properties.data()},           {Py_tp_methods, MethodsOf<Class>()},
      {Py_tp_repr, Slot(Class_repr<Class>)},
  };
  if (kConstructible) slots.push_back({Py_tp_new, Slot(NewByVectorcall)});
  slots.insert(slots.end(), more);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {
      .name = Class::kName,
      .basicsize = sizeof(ValueObject<Held>),
      .itemsize = 0,
      .flags = kConstructible ? kFinalType : kFinalNotConstructible,
      .slots = slots.data(),
  };
  Ref type = Ref::Steal(PyType_FromModuleAndSpec(module, &spec, base));
  if constexpr (kConstructible) {
    AsType(type.get())->tp_vectorcall = Class_vectorcall<Class>;  // no slot before CPython 3.14
  }
  Checked(PyModule_AddType(module, AsType(type.get())));
  return type;
}

}  // namespace hurray
