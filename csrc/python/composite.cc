#include "python/composite.h"

#include <structmember.h>

#include <algorithm>
#include <new>
#include <vector>

#include "core/composite.h"
#include "python/arguments.h"
#include "python/descriptor.h"
#include "python/dtype.h"
#include "python/errors.h"
#include "python/layout.h"
#include "python/pickling.h"
#include "python/tensor.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr char kDoc[] = R"(Composite(composition_rule, *, shape, dtype, members, combine_op=None)
--

One logical tensor over ordered members; it owns no buffers.

Parameters
----------
composition_rule : {"partition", "overlay", "group"}
    Whether the members tile the whole exactly, correct a base one after the other, or only
    belong together.
shape : sequence of int
    Extents of the whole.
dtype : Dtype
    Element type of the whole.
members : sequence of Tensor and Composite
    In order. Members of a partition or overlay carry a `Shard` whose parent is the whole.
combine_op : {"replace", "add"}, optional
    How an overlay's corrections combine; for an overlay only, and required there.

Raises
------
ValueError
    For an unknown rule or operation, or an operation missing or out of place.
TypeError
    If `members` is no sequence of Tensor and Composite, or `dtype` no Dtype.
InvalidDescriptorError
    If the members do not make such a composite, or it is nested deeper than 8 levels.

Notes
-----
Format: section 8, "Composites".

Examples
--------
>>> top = hurray.Tensor(bytes(32), hurray.float32, [2, 4], shard=hurray.Shard([4, 4], [0, 0]))
>>> low = hurray.Tensor(bytes(32), hurray.float32, [2, 4], shard=hurray.Shard([4, 4], [2, 0]))
>>> whole = hurray.Composite(
...     "partition", shape=[4, 4], dtype=hurray.float32, members=[top, low])
>>> whole.member_count, whole.members[1] is low
(2, True)
)";

constexpr size_t kReprDepth = 3;

struct CompositeObject {
  PyObject_HEAD
  PyObject* weakrefs;
  PyObject* members;  // tuple
  PyObject* dtype;
  TensorDescriptor head;
};

CompositeObject* Of(PyObject* self) { return reinterpret_cast<CompositeObject*>(self); }

const TensorDescriptor& DescriptorOfMember(const ModuleState& state, PyObject* member) {
  return IsTensor(state, member) ? TensorOf(member)->descriptor : Of(member)->head;
}

// Heads on the longest path from this one to a tensor, itself included.
size_t DepthOf(const ModuleState& state, PyObject* members) {
  size_t deepest = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members); ++i) {
    PyObject* member = PyTuple_GET_ITEM(members, i);
    if (IsComposite(state, member)) {
      deepest = std::max(deepest, DepthOf(state, Of(member)->members));
    }
  }
  return deepest + 1;
}

// ---- lifetime

constexpr Signature kNew("Composite",
                         {"composition_rule", "shape", "dtype", "members", "combine_op"}, 4, 1);

CompositeHeadLayout ToHeadLayout(PyObject* rule_name, PyObject* op_name, size_t member_count) {
  std::string_view name = ToText(rule_name, "composition_rule");
  auto rule = CompositionRuleOf(name);
  if (!rule) {
    ThrowValueError(StrCat("composition_rule is ", ReprText(rule_name),
                           ", it must be 'partition', 'overlay' or 'group'"));
  }
  bool overlay = rule == CompositionRule::kOverlay;
  CombineOp op = CombineOp::kNone;
  if (NoneToNull(op_name) != nullptr) {
    std::string_view text = ToText(op_name, "combine_op");
    auto found = CombineOpOf(text);
    if (!found) {
      ThrowValueError(
          StrCat("combine_op is ", ReprText(op_name), ", it must be 'replace' or 'add'"));
    }
    if (!overlay) {
      ThrowValueError(StrCat("combine_op is '", text, "', a ", name, " has none"));
    }
    op = *found;
  } else if (overlay) {
    ThrowValueError("combine_op is missing, an overlay needs 'replace' or 'add'");
  }
  return {*rule, op, static_cast<uint32_t>(member_count)};
}

Shape ToHeadShape(PyObject* object) {
  Shape shape = ToShape(object, "shape");
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == kDynamicExtent) {
      ThrowInvalidDescriptor(
          StrCat("shape[", i, "] is None, hurray.Composite() needs every extent"));
    }
  }
  return shape;
}

PyObject* Composite_vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf,
                               PyObject* kwnames) {
  auto* type = AsType(callable);
  return Guard(type, [&] {
    auto bound = kNew.Bind(args, nargsf, kwnames);
    ModuleState& state = StateOf(type);
    ElementType dtype = ToElementType(state, bound[2], "dtype");
    Ref members = ToCompositeMembers(state, bound[3]);
    auto count = static_cast<size_t>(PyTuple_GET_SIZE(members.get()));
    CompositeHeadLayout layout = ToHeadLayout(bound[0], bound[4], count);
    TensorDescriptor head(dtype, ToHeadShape(bound[1]), layout, BufferTable());
    head.Validate(ErrorCode::kInvalidDescriptor);
    CheckCompositeOf(state, head, members.get());
    return NewComposite(state, std::move(head), std::move(members)).release();
  });
}

int Composite_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(Of(self)->members);
  Py_VISIT(Of(self)->dtype);
  return 0;
}

void Composite_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (Of(self)->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  Py_XDECREF(Of(self)->members);
  Py_XDECREF(Of(self)->dtype);
  Of(self)->head.~TensorDescriptor();
  type->tp_free(self);
  Py_DECREF(type);
}

// ---- properties

PyObject* Composite_member_count(PyObject* self, void*) {
  return PyLong_FromSsize_t(PyTuple_GET_SIZE(Of(self)->members));
}
PyObject* Composite_layout(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    return LayoutToPython(StateOf(Py_TYPE(self)), Of(self)->head.layout()).release();
  });
}
PyObject* Composite_shape(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] { return ShapeToTuple(Of(self)->head.shape()).release(); });
}
PyObject* Composite_ndim(PyObject* self, void*) { return PyLong_FromSize_t(Of(self)->head.rank()); }
PyObject* Composite_descriptor(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    ModuleState& state = StateOf(Py_TYPE(self));
    return DescriptorToPython(state, Of(self)->head, state.cpu_device).release();
  });
}

const CompositeHeadLayout& HeadLayoutOf(PyObject* self) {
  return std::get<CompositeHeadLayout>(Of(self)->head.layout());
}

PyObject* Composite_member_roles(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    Py_ssize_t count = PyTuple_GET_SIZE(Of(self)->members);
    Ref roles = Ref::Steal(PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      auto role = RoleByPosition(HeadLayoutOf(self).rule, static_cast<size_t>(i));
      Ref name = role ? ToPython(MemberRoleName(*role)) : Ref::None();
      PyTuple_SET_ITEM(roles.get(), i, name.release());
    }
    return roles.release();
  });
}

PyGetSetDef kProperties[] = {
    {"member_count", Composite_member_count, nullptr, "int: number of members.", nullptr},
    {"layout", Composite_layout, nullptr, "CompositeLayout: the rule and its parameters.", nullptr},
    {"shape", Composite_shape, nullptr, "tuple of int: extents of the whole.", nullptr},
    {"ndim", Composite_ndim, nullptr, "int: number of dimensions.", nullptr},
    {"descriptor", Composite_descriptor, nullptr, "Descriptor: the head's.", nullptr},
    {"member_roles", Composite_member_roles, nullptr,
     "tuple: ``'base'`` or ``'correction'`` for an overlay's members, None for others.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"members", T_OBJECT_EX, static_cast<Py_ssize_t>(offsetof(CompositeObject, members)), READONLY,
     "tuple of Tensor and Composite: the members in order."},
    {"dtype", T_OBJECT_EX, static_cast<Py_ssize_t>(offsetof(CompositeObject, dtype)), READONLY,
     "Dtype: element type of the whole."},
    {"__weaklistoffset__", T_PYSSIZET, static_cast<Py_ssize_t>(offsetof(CompositeObject, weakrefs)),
     READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

// ---- methods

std::string ShortText(const ModuleState& state, PyObject* self, size_t depth) {
  Ref shape = ShapeToTuple(Of(self)->head.shape());
  Ref shape_text = Ref::Steal(PyObject_Repr(shape.get()));
  std::string text = StrCat("hurray.Composite(rule='", CompositionRuleName(HeadLayoutOf(self).rule),
                            "', shape=", ToText(shape_text.get(), "shape"), ", members=[");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(Of(self)->members); ++i) {
    PyObject* member = PyTuple_GET_ITEM(Of(self)->members, i);
    if (i != 0) text += ", ";
    if (IsTensor(state, member)) {
      text += "Tensor";
    } else {
      text += depth < kReprDepth ? ShortText(state, member, depth + 1) : "…";
    }
  }
  return text += "])";
}

PyObject* Composite_repr(PyObject* self) {
  return Guard(Py_TYPE(self),
               [&] { return ToPython(ShortText(StateOf(Py_TYPE(self)), self, 1)).release(); });
}

bool Equal(const ModuleState& state, PyObject* a, PyObject* b) {
  if (Of(a)->head != Of(b)->head) return false;
  CompositionRule rule = HeadLayoutOf(a).rule;
  Py_ssize_t count = PyTuple_GET_SIZE(Of(a)->members);
  if (count != PyTuple_GET_SIZE(Of(b)->members)) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* first = PyTuple_GET_ITEM(Of(a)->members, i);
    PyObject* second = PyTuple_GET_ITEM(Of(b)->members, i);
    if (Py_TYPE(first) != Py_TYPE(second)) return false;
    if (IsComposite(state, first)) {
      if (!Equal(state, first, second)) return false;
    } else if (MemberAsWritten(TensorOf(first)->descriptor, rule, static_cast<size_t>(i)) !=
               MemberAsWritten(TensorOf(second)->descriptor, rule, static_cast<size_t>(i))) {
      return false;
    }
  }
  return true;
}

PyObject* Composite_richcompare(PyObject* self, PyObject* other, int op) {
  return Guard(Py_TYPE(self), [&] {
    if (Py_TYPE(self) != Py_TYPE(other) || (op != Py_EQ && op != Py_NE)) {
      return Py_NewRef(Py_NotImplemented);
    }
    bool equal = Equal(StateOf(Py_TYPE(self)), self, other);
    return Py_NewRef(equal == (op == Py_EQ) ? Py_True : Py_False);
  });
}

PyMethodDef kMethods[] = {
    {"__reduce__", Method(Composite_reduce), METH_NOARGS, nullptr},
    {"__deepcopy__", Method(Composite_deepcopy), METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_new, Slot(NewByVectorcall)},
    {Py_tp_traverse, Slot(Composite_traverse)},
    {Py_tp_dealloc, Slot(Composite_dealloc)},
    {Py_tp_members, kMembers},
    {Py_tp_getset, kProperties},
    {Py_tp_methods, kMethods},
    {Py_tp_repr, Slot(Composite_repr)},
    {Py_tp_richcompare, Slot(Composite_richcompare)},
    {Py_tp_hash, Slot(PyObject_HashNotImplemented)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.Composite",
    .basicsize = sizeof(CompositeObject),
    .itemsize = 0,
    .flags = kFinalType,
    .slots = kSlots,
};

}  // namespace

Ref NewComposite(ModuleState& state, TensorDescriptor head, Ref members) {
  auto* type = AsType(state.composite_type);
  Ref self = Ref::Steal(type->tp_alloc(type, 0));
  CompositeObject* composite = Of(self.get());
  composite->dtype = Py_NewRef(DtypeObjectOf(state, head.dtype()));
  composite->members = members.release();
  new (&composite->head) TensorDescriptor(std::move(head));
  return self;
}

Ref ToCompositeMembers(const ModuleState& state, PyObject* sequence) {
  Ref members = ToTupleOfItems(sequence, "members");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members.get()); ++i) {
    PyObject* member = PyTuple_GET_ITEM(members.get(), i);
    if (!IsTensor(state, member) && !IsComposite(state, member)) {
      ThrowTypeError(StrCat("members[", i, "] must be a hurray.Tensor or hurray.Composite, not ",
                            TypeName(member)));
    }
  }
  return members;
}

void CheckCompositeOf(const ModuleState& state, const TensorDescriptor& head, PyObject* members) {
  CheckCompositeDepth(DepthOf(state, members));
  std::vector<const TensorDescriptor*> descriptors;
  descriptors.reserve(static_cast<size_t>(PyTuple_GET_SIZE(members)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members); ++i) {
    descriptors.push_back(&DescriptorOfMember(state, PyTuple_GET_ITEM(members, i)));
  }
  CheckComposite(head, descriptors);
}

const TensorDescriptor& HeadOf(PyObject* composite) noexcept { return Of(composite)->head; }
PyObject* MembersOf(PyObject* composite) noexcept { return Of(composite)->members; }

int AddComposite(PyObject* module, ModuleState& state) {
  state.composite_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.composite_type == nullptr) return -1;
  auto* type = AsType(state.composite_type);
  type->tp_vectorcall = Composite_vectorcall;  // no slot for it before CPython 3.14
  return PyModule_AddType(module, type);
}

}  // namespace hurray
