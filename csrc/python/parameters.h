// Types that the arguments of their constructor describe in full: each argument is a property of
// the same name, and text, pickling and hashing go through them too.
#pragma once

#include <Python.h>

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "python/arguments.h"
#include "python/errors.h"
#include "python/module_state.h"
#include "python/ref.h"
#include "python/value_type.h"

namespace hurray {

// An argument of the constructor that is also a property.
template <typename T>
struct Parameter {
  const char* name;
  Ref (*get)(const ModuleState& state, const T& value);
  const char* doc;
};

// The getter of a parameter that is a plain member: kField<&Shard::offset>.
template <auto kMember>
inline constexpr auto kField = []<typename T>(const ModuleState&, const T& value) {
  if constexpr (requires { ToPython(value.*kMember); }) {
    return ToPython(value.*kMember);
  } else {
    return ToTuple(value.*kMember);
  }
};

// The T in what objects of its type hold: itself, or a variant that has it.
template <typename T, typename Held>
const T& Part(const Held& held) noexcept {
  if constexpr (std::is_same_v<T, Held>) {
    return held;
  } else {
    return *std::get_if<T>(&held);
  }
}

// The index of alternative T.
template <typename T, typename... Ts>
constexpr size_t AlternativeIndex(std::type_identity<std::variant<Ts...>>) noexcept {
  size_t index = 0;
  static_cast<void>(((std::is_same_v<T, Ts> ? false : (++index, true)) && ...));
  return index;
}
template <typename T, typename Variant>
inline constexpr size_t kAlternative = AlternativeIndex<T>(std::type_identity<Variant>());

template <typename T, typename Held>
PyObject* Parameter_get(PyObject* self, void* closure) {
  return Guard(Py_TYPE(self), [&] {
    const auto& parameter = *static_cast<const Parameter<T>*>(closure);
    return parameter.get(StateOf(Py_TYPE(self)), Part<T>(ValueOf<Held>(self))).release();
  });
}

// The rows of Py_tp_getset for these parameters, followed by `more`, and the closing row.
template <typename T, typename Held, size_t N, size_t M = 0>
std::array<PyGetSetDef, N + M + 1> ParameterProperties(
    const std::array<Parameter<T>, N>& parameters, const std::array<PyGetSetDef, M>& more = {}) {
  std::array<PyGetSetDef, N + M + 1> rows{};
  for (size_t i = 0; i < N; ++i) {
    // CPython hands the closure back as it is and never writes to it.
    void* closure = const_cast<Parameter<T>*>(&parameters[i]);
    rows[i] = {parameters[i].name, Parameter_get<T, Held>, nullptr, parameters[i].doc, closure};
  }
  for (size_t i = 0; i < M; ++i) rows[N + i] = more[i];
  return rows;
}

// The values of all parameters, as a call of the constructor wants them.
template <typename T, size_t N>
Ref ParameterTuple(const ModuleState& state, const T& value,
                   const std::array<Parameter<T>, N>& parameters) {
  Ref tuple = Ref::Steal(PyTuple_New(static_cast<Py_ssize_t>(N)));
  for (size_t i = 0; i < N; ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     parameters[i].get(state, value).release());
  }
  return tuple;
}

// The text of a call: "Name(a=1, b=(2,))".
class CallText {
 public:
  explicit CallText(std::string_view function) : text_(StrCat(function, "(")) {}

  CallText& Add(std::string_view name, std::string_view value) {
    text_ += StrCat(first_ ? "" : ", ", name, "=", value);
    first_ = false;
    return *this;
  }
  // The repr of a value.
  CallText& Add(std::string_view name, PyObject* value) {
    Ref text = Ref::Steal(PyObject_Repr(value));
    return Add(name, ToText(text.get(), name));
  }
  template <typename T, size_t N>
  CallText& AddAll(const ModuleState& state, const T& value,
                   const std::array<Parameter<T>, N>& parameters) {
    for (const Parameter<T>& parameter : parameters) {
      Ref argument = parameter.get(state, value);
      Add(parameter.name, argument.get());
    }
    return *this;
  }
  std::string Done() const { return text_ + ")"; }

 private:
  std::string text_;
  bool first_ = true;
};

// What __reduce__ returns for a call of `function` with these arguments.
inline Ref ReduceTo(PyObject* function, const Ref& arguments) {
  return Ref::Steal(PyTuple_Pack(2, function, arguments.get()));
}

// What __reduce__ returns for a constructor whose arguments have to be named.
Ref ReduceToKeywords(PyTypeObject* type, const Ref& keywords);

// The hash of a value that is equal exactly where its bytes are.
Py_hash_t HashOfBytes(std::span<const uint8_t> bytes);

}  // namespace hurray
