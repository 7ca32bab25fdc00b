#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct CompositeClass : LayoutClass<CompositeHeadLayout> {
  static constexpr char kName[] = "hurray.CompositeLayout";
  static constexpr char kDoc[] = R"(CompositeLayout(composition_rule, member_count, combine_op=None)
--

The head of a composite: it owns no buffers and presents other tensors as one. Any rank.

It describes a `hurray.Composite`; a `hurray.Tensor` cannot have it.

Parameters
----------
composition_rule : str
    ``"partition"``, ``"overlay"`` or ``"group"``.
member_count : int
    Number of members, at most 2^32-2.
combine_op : str, optional
    How an overlay combines its members, ``"replace"`` or ``"add"``; None for the other rules.

Raises
------
ValueError
    If a rule or operation is none of these, an overlay has no operation, or another rule has one.
InvalidDescriptorError
    If `member_count` is 2^32-1.
OverflowError
    If `member_count` is negative or needs more than 32 bits.

Notes
-----
Format: section 8, "Composites". Tag 0x0B.

Examples
--------
>>> layout = hurray.CompositeLayout("overlay", member_count=3, combine_op="add")
>>> layout.composition_rule, layout.combine_op, layout.buffer_count, layout.is_virtual
('overlay', 'add', 0, True)
)";
  static constexpr std::array<Parameter<Kind>, 3> kParameters{{
      {"composition_rule",
       [](const ModuleState&, const Kind& kind) {
         return ToPython(CompositionRuleName(kind.rule));
       },
       "str: how the members make up the whole."},
      {"member_count", kField<&Kind::member_count>, "int: number of members."},
      {"combine_op",
       [](const ModuleState&, const Kind& kind) {
         return kind.combine_op == CombineOp::kNone ? Ref::None()
                                                    : ToPython(CombineOpName(kind.combine_op));
       },
       "str or None: how an overlay combines its members."},
  }};
  static constexpr auto kNew =
      Signature("CompositeLayout", {"composition_rule", "member_count", "combine_op"}, 2);
  static Kind Make(const ModuleState&, const std::array<PyObject*, 3>& arguments) {
    auto [rule, member_count, op] = arguments;
    CompositionRule composition = ToCompositionRule(rule);
    return {composition, ToCombineOp(op, composition),
            ToInteger<uint32_t>(member_count, "member_count")};
  }
  static std::string Text(const ModuleState&, const Kind& kind) {
    CallText text("CompositeLayout");
    text.Add("composition_rule", QuotedText(CompositionRuleName(kind.rule)))
        .Add("member_count", StrCat(kind.member_count));
    if (kind.combine_op != CombineOp::kNone) {
      text.Add("combine_op", QuotedText(CombineOpName(kind.combine_op)));
    }
    return text.Done();
  }
};

}  // namespace

CompositionRule ToCompositionRule(PyObject* object) {
  return ToChoice(object, "composition_rule", CompositionRuleOf,
                  "'partition', 'overlay' or 'group'");
}

CombineOp ToCombineOp(PyObject* object, CompositionRule rule) {
  bool overlay = rule == CompositionRule::kOverlay;
  if (NoneToNull(object) == nullptr) {
    if (overlay) {
      ThrowValueError("combine_op is missing, an overlay needs 'replace' or 'add'");
    }
    return CombineOp::kNone;
  }
  CombineOp op = ToChoice(object, "combine_op", CombineOpOf, "'replace' or 'add'");
  if (!overlay) {
    ThrowValueError(StrCat("combine_op is '", CombineOpName(op), "', a ", CompositionRuleName(rule),
                           " has none"));
  }
  return op;
}

Ref AddLayoutClass(std::type_identity<CompositeHeadLayout>, PyObject* module, PyObject* base) {
  return AddClass<CompositeClass>(module, base, {});
}

}  // namespace hurray
