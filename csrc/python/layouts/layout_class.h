// What the files beside this one share: each describes the Python class of one layout.
#pragma once

#include <Python.h>

#include <type_traits>

#include "core/layout.h"
#include "python/class_from_parameters.h"
#include "python/layout.h"

namespace hurray {

// The start of a description for AddClass(): objects of all layout classes hold the variant.
template <typename L>
struct LayoutClass {
  using Kind = L;
  using Held = Layout;
};

// Creates the class of one alternative of Layout below its base class; defined in the file of that
// layout. Returns a new reference.
Ref AddLayoutClass(std::type_identity<RowMajorLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<ColMajorLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<StridedLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<TiledLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<MortonLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<HilbertLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<CooLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<CsrLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<CscLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<CsfLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<BlockPagedLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<CompositeHeadLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<PrivateExtensionLayout>, PyObject* module, PyObject* base);
Ref AddLayoutClass(std::type_identity<UnknownLayout>, PyObject* module, PyObject* base);

// ---- for constructors

// A sequence of integers as the core's layouts keep it.
template <typename T>
SmallVector<T, 8> ToNumbers(PyObject* object, std::string_view name) {
  return SmallVector<T, 8>(std::span<const T>(ToIntegers<T>(object, name)));
}

// ---- for text

// "(4, 1)", as Python writes a tuple of integers.
template <typename T>
std::string TupleText(const SmallVector<T, 8>& numbers) {
  std::string list = JoinInBrackets(std::span<const T>(numbers.data(), numbers.size()));
  std::string_view inside = std::string_view(list).substr(1, list.size() - 2);
  return StrCat("(", inside, numbers.size() == 1 ? ",)" : ")");
}

inline std::string QuotedText(std::string_view text) { return StrCat("'", text, "'"); }

}  // namespace hurray
