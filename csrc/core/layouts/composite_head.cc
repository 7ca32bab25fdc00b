#include "core/layouts/composite_head.h"

namespace hurray {

namespace {

constexpr uint32_t kReservedMemberCount = 0xFFFFFFFF;

}  // namespace

std::string_view CompositionRuleName(CompositionRule rule) noexcept {
  switch (rule) {
    case CompositionRule::kPartition:
      return "partition";
    case CompositionRule::kOverlay:
      return "overlay";
    case CompositionRule::kGroup:
      return "group";
  }
  return "";  // unreachable: a rule is checked before it becomes one
}

std::optional<CompositionRule> CompositionRuleOf(std::string_view name) noexcept {
  if (name == "partition") return CompositionRule::kPartition;
  if (name == "overlay") return CompositionRule::kOverlay;
  if (name == "group") return CompositionRule::kGroup;
  return std::nullopt;
}

std::string_view CombineOpName(CombineOp op) noexcept {
  return op == CombineOp::kReplace ? "replace" : op == CombineOp::kAdd ? "add" : "";
}

std::optional<CombineOp> CombineOpOf(std::string_view name) noexcept {
  if (name == "replace") return CombineOp::kReplace;
  if (name == "add") return CombineOp::kAdd;
  return std::nullopt;
}

void CompositeHeadLayout::Check() const {
  if (member_count == kReservedMemberCount) {
    ThrowInvalidDescriptor("composite: member_count is 4294967295, at most 4294967294 is allowed");
  }
}

CompositeHeadLayout CompositeHeadLayout::Decode(ByteReader& in, size_t) {
  uint8_t rule = in.ReadU8("composition_rule");
  if (rule < 1 || rule > 3) {
    ThrowInvalidDescriptor(StrCat("composite: composition_rule is ", HexByte(rule),
                                  ", it must be 1 (partition), 2 (overlay) or 3 (group)"));
  }
  uint8_t op = in.ReadU8("combine_op");
  bool overlay = rule == static_cast<uint8_t>(CompositionRule::kOverlay);
  if (overlay ? (op != 1 && op != 2) : op != 0) {
    ThrowInvalidDescriptor(
        StrCat("composite: combine_op is ", op, ", it must be ",
               overlay ? "1 (replace) or 2 (add) for an overlay" : "0 for a partition or group"));
  }
  in.ReadReserved(2, "composite head");
  CompositeHeadLayout head{static_cast<CompositionRule>(rule), static_cast<CombineOp>(op),
                           in.ReadU32("member_count")};
  head.Check();
  return head;
}

void CompositeHeadLayout::Encode(ByteWriter& out) const noexcept {
  out.WriteU8(static_cast<uint8_t>(rule));
  out.WriteU8(static_cast<uint8_t>(combine_op));
  out.WriteZeros(2);
  out.WriteU32(member_count);
}

void CompositeHeadLayout::CheckShape(ShapeView shape) const {
  if (rule != CompositionRule::kGroup && HasDynamicExtent(shape)) {
    ThrowInvalidDescriptor(StrCat("layout composite: the shape ", ShapeText(shape), " of a ",
                                  CompositionRuleName(rule), " must have no dynamic dimension"));
  }
}

std::optional<int64_t> CompositeHeadLayout::ElementOffset(ShapeView, IndexView, BufferSpans) {
  throw Error(ErrorCode::kUnsupported, "layout composite owns no elements; ask its members");
}

}  // namespace hurray
