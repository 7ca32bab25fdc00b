#include "python/layout.h"

#include "python/arguments.h"
#include "python/errors.h"
#include "python/layouts/layout_class.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr char kDoc[] =
    R"(How the elements of a tensor lie in its buffers: a tag and that layout's parameters.

The base of all layout classes, not constructible. A layout is a description and holds no buffers.
Layouts compare by value, and a layout also equals its name, so that ``t.layout == "csr"`` works;
its hash is that of its name.

Notes
-----
Format: section 5, "Layouts".

Examples
--------
>>> layout = hurray.Tensor(bytes(16), hurray.float32, [4]).layout
>>> layout
RowMajorLayout()
>>> isinstance(layout, hurray.Layout), layout == "row_major", hex(layout.tag)
(True, True, '0x1')
)";

const Layout& Of(PyObject* self) { return ValueOf<Layout>(self); }

// ---- properties

PyObject* Layout_tag(PyObject* self, void*) { return PyLong_FromLong(LayoutTag(Of(self))); }
PyObject* Layout_name(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] { return ToPython(LayoutName(Of(self))).release(); });
}
PyObject* Layout_buffer_count(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] { return ToPython(LayoutBufferCount(Of(self))).release(); });
}
PyObject* Layout_is_dense(PyObject* self, void*) { return PyBool_FromLong(IsDense(Of(self))); }
PyObject* Layout_is_virtual(PyObject* self, void*) { return PyBool_FromLong(IsVirtual(Of(self))); }

PyGetSetDef kProperties[] = {
    {"tag", Layout_tag, nullptr, "int: the byte that stands for it in a descriptor.", nullptr},
    {"name", Layout_name, nullptr,
     "str: name of the layout, ``'extension'`` for private and unknown ones.", nullptr},
    {"buffer_count", Layout_buffer_count, nullptr,
     "int or None: buffers that a tensor needs; None where nobody can tell.", nullptr},
    {"is_dense", Layout_is_dense, nullptr, "bool: one buffer stores every element.", nullptr},
    {"is_virtual", Layout_is_virtual, nullptr, "bool: the head of a composite, without buffers.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// ---- methods

constexpr char kValidateDoc[] = R"(validate_against_shape($self, shape)
--

Checks that the layout can describe a tensor of this shape.

Parameters
----------
shape : sequence of int or None
    Extents in elements; None for a dynamic one, which passes where a size would be needed.

Raises
------
InvalidDescriptorError
    If it cannot; the message has the layout's name, the value found and the value allowed.

Notes
-----
Format: section 5, "Layouts".

Examples
--------
>>> hurray.CsrLayout(nnz=4).validate_against_shape([3, 3])
>>> hurray.CsrLayout(nnz=4).validate_against_shape([3])
Traceback (most recent call last):
    ...
hurray.InvalidDescriptorError: layout csr needs rank 2, the shape [3] has rank 1
)";

constexpr Signature kValidate("validate_against_shape", {"shape"});

PyObject* Layout_validate_against_shape(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                        PyObject* kwnames) {
  return Guard(Py_TYPE(self), [&] {
    auto [argument] = kValidate.Bind(args, nargs, kwnames);
    Shape shape = ToShape(argument, "shape");
    CheckLayoutShape(Of(self), {shape.data(), shape.size()});
    return Ref::None().release();
  });
}

// Not by way of UTF-8, which some texts cannot be written in.
bool IsText(PyObject* text, std::string_view expected) {
  return PyUnicode_CompareWithASCIIString(text, std::string(expected).c_str()) == 0;
}

// Layouts of one class compare by value; with text, by name.
PyObject* Layout_richcompare(PyObject* self, PyObject* other, int op) {
  return Guard(Py_TYPE(self), [&] {
    bool same_class = Py_TYPE(self) == Py_TYPE(other);
    if ((op != Py_EQ && op != Py_NE) || (!same_class && !PyUnicode_Check(other))) {
      return Py_NewRef(Py_NotImplemented);
    }
    bool equal = same_class ? Of(self) == Of(other) : IsText(other, LayoutName(Of(self)));
    return Py_NewRef(equal == (op == Py_EQ) ? Py_True : Py_False);
  });
}

// Equal objects hash alike, and a layout equals its name.
Py_hash_t Layout_hash(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    Py_hash_t hash = PyObject_Hash(ToPython(LayoutName(Of(self))).get());
    if (hash == -1) throw PythonError();
    return hash;
  });
}

PyMethodDef kMethods[] = {
    {"validate_against_shape", Method(Layout_validate_against_shape), METH_FASTCALL | METH_KEYWORDS,
     kValidateDoc},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_traverse, Slot(Value_traverse<Layout>)},
    {Py_tp_dealloc, Slot(Value_dealloc<Layout>)},
    {Py_tp_members, WeakrefMember<Layout>()},
    {Py_tp_getset, kProperties},
    {Py_tp_methods, kMethods},
    {Py_tp_richcompare, Slot(Layout_richcompare)},
    {Py_tp_hash, Slot(Layout_hash)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.Layout",
    .basicsize = sizeof(ValueObject<Layout>),
    .itemsize = 0,
    .flags = kFinalNotConstructible | Py_TPFLAGS_BASETYPE,
    .slots = kSlots,
};

template <typename... L>
void AddLayoutClasses(PyObject* module, ModuleState& state,
                      std::type_identity<std::variant<L...>>) {
  ((state.layout_types[kAlternative<L, Layout>] =
        AddLayoutClass(std::type_identity<L>(), module, state.layout_type).release()),
   ...);
}

// ---- module functions

constexpr char kTagKindDoc[] = R"(layout_tag_kind(tag)
--

Which category of the layout tags a tag falls in.

Parameters
----------
tag : int
    A byte, as in `Layout.tag`.

Returns
-------
str
    ``"named"``: this version knows it; ``"reserved"``: a later version of the format may define
    it; ``"private"``: a matter between one producer and one consumer; ``"invalid"``: never valid.

Raises
------
OverflowError
    If `tag` is no byte.

Notes
-----
Format: section 5.0, "Overview".

Examples
--------
>>> [hurray.layout_tag_kind(tag) for tag in (0x07, 0x10, 0xF3, 0x00)]
['named', 'reserved', 'private', 'invalid']
)";

constexpr Signature kTagKind("layout_tag_kind", {"tag"});

PyObject* LayoutTagKindFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                                PyObject* kwnames) {
  return Guard(module, [&] {
    auto [tag] = kTagKind.Bind(args, nargs, kwnames);
    return ToPython(LayoutTagKind(ToInteger<uint8_t>(tag, "tag"))).release();
  });
}

PyMethodDef kFunctions[] = {
    {"layout_tag_kind", Method(LayoutTagKindFunction), METH_FASTCALL | METH_KEYWORDS, kTagKindDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

Ref LayoutToPython(const ModuleState& state, const Layout& layout) {
  return NewValue(AsType(state.layout_types[layout.index()]), layout);
}

Layout ToLayout(const ModuleState& state, PyObject* object, std::string_view name) {
  if (PyObject_TypeCheck(object, AsType(state.layout_type)) == 0) {
    ThrowTypeError(StrCat(name, " must be a hurray.Layout, not ", TypeName(object)));
  }
  return Of(object);
}

int AddLayouts(PyObject* module, ModuleState& state) {
  return Guard(module, [&] {
    state.layout_type = Ref::Steal(PyType_FromModuleAndSpec(module, &kSpec, nullptr)).release();
    Checked(PyModule_AddType(module, AsType(state.layout_type)));
    AddLayoutClasses(module, state, std::type_identity<Layout>());
    return PyModule_AddFunctions(module, kFunctions);
  });
}

}  // namespace hurray
