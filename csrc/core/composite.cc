#include "core/composite.h"

#include <algorithm>
#include <string>

#include "core/str_cat.h"

namespace hurray {

namespace {

ShapeView View(const Shape& shape) noexcept { return {shape.data(), shape.size()}; }

bool IsZero(const Shape& offset) noexcept {
  return std::all_of(offset.begin(), offset.end(), [](uint64_t entry) { return entry == 0; });
}

}  // namespace

void CheckCompositeDepth(size_t depth, size_t limit) {
  if (depth > limit) {
    ThrowInvalidDescriptor(
        StrCat("composite: ", depth, " heads are nested, at most ", limit, " may be"));
  }
}

std::optional<MemberRole> RoleByPosition(CompositionRule rule, size_t position) noexcept {
  if (rule != CompositionRule::kOverlay) return std::nullopt;
  return position == 0 ? MemberRole::kBase : MemberRole::kCorrection;
}

TensorDescriptor MemberAsWritten(const TensorDescriptor& member, CompositionRule rule,
                                 size_t position) {
  return member.WithMemberRole(RoleByPosition(rule, position));
}

CompositeChecker::CompositeChecker(const TensorDescriptor& head)
    : head_(std::get<CompositeHeadLayout>(head.layout())),
      dtype_(head.dtype()),
      shape_(head.shape()),
      boxes_(head.rank()) {
  if (head_.rule != CompositionRule::kPartition) return;
  volume_ = ElementCount(head.shape());
  if (!volume_) {
    ThrowInvalidDescriptor(StrCat("composite: the element count of the shape ",
                                  ShapeText(head.shape()), " of a partition exceeds 64 bits"));
  }
}

void CompositeChecker::Add(const TensorDescriptor& member, std::optional<MemberRole> role) {
  if (has_all_members()) {
    ThrowInvalidDescriptor(
        StrCat("composite: member_count is ", head_.member_count, ", but more members follow"));
  }
  if (head_.rule != CompositionRule::kGroup) CheckBox(member);
  CheckRole(member, role);
  if (head_.rule == CompositionRule::kPartition) {
    boxes_.Add(View(member.shard()->offset()), member.shape());
    covered_ = CheckedAdd(covered_, ElementCount(member.shape()));
  }
  ++added_;
}

void CompositeChecker::CheckBox(const TensorDescriptor& member) const {
  std::string_view rule = CompositionRuleName(head_.rule);
  const Shard* shard = member.shard();
  if (shard == nullptr) {
    ThrowInvalidDescriptor(StrCat("composite: member ", added_, " has no shard, each member of a ",
                                  rule, " needs one"));
  }
  if (shard->parent_shape() != shape_) {
    ThrowInvalidDescriptor(StrCat(
        "composite: member ", added_, " has parent_shape ", ShapeText(View(shard->parent_shape())),
        ", it must be the shape of the ", rule, ", ", ShapeText(View(shape_))));
  }
  try {
    shard->CheckHolds(member.shape());
  } catch (const Error& error) {
    ThrowInvalidDescriptor(StrCat("composite: member ", added_, ": ", error.what()));
  }
  if (member.dtype() != dtype_ && member.quantization() == nullptr) {
    ThrowInvalidDescriptor(StrCat("composite: member ", added_, " has dtype ",
                                  member.dtype().name(), ", the ", rule, " has ", dtype_.name(),
                                  "; only a quantized member may differ"));
  }
}

void CompositeChecker::CheckRole(const TensorDescriptor& member,
                                 std::optional<MemberRole> role) const {
  if (head_.rule != CompositionRule::kOverlay) {
    if (role) {
      ThrowInvalidDescriptor(StrCat("composite: member ", added_, " carries the role ",
                                    MemberRoleName(*role),
                                    ", which only members of an overlay do"));
    }
    return;
  }
  if (IsVirtual(member.layout())) {
    ThrowInvalidDescriptor(
        StrCat("composite: member ", added_, " is a composite, an overlay cannot hold one"));
  }
  MemberRole wanted = *RoleByPosition(CompositionRule::kOverlay, added_);
  if (role != wanted) {
    ThrowInvalidDescriptor(StrCat("composite: member ", added_, " of an overlay has ",
                                  role ? StrCat("the role ", MemberRoleName(*role)) : "no role",
                                  ", it must be ", MemberRoleName(wanted)));
  }
  if (wanted != MemberRole::kBase) return;
  if (!IsZero(member.shard()->offset()) || !std::ranges::equal(member.shape(), shape_)) {
    ThrowInvalidDescriptor(StrCat("composite: member 0, the base of an overlay, has shard_offset ",
                                  ShapeText(View(member.shard()->offset())), " and shape ",
                                  ShapeText(member.shape()), ", it must cover the whole of ",
                                  ShapeText(View(shape_))));
  }
}

void CompositeChecker::Close() const {
  if (!has_all_members()) {
    ThrowInvalidDescriptor(
        StrCat("composite: ", added_, " members, member_count is ", head_.member_count));
  }
  if (head_.rule == CompositionRule::kOverlay && added_ == 0) {
    ThrowInvalidDescriptor("composite: an overlay has no members, it needs at least a base");
  }
  if (head_.rule != CompositionRule::kPartition) return;
  if (auto pair = boxes_.FindOverlap()) {
    ThrowInvalidDescriptor(StrCat("composite: members ", pair->first, " and ", pair->second,
                                  " of a partition overlap"));
  }
  if (covered_ != volume_) {
    ThrowInvalidDescriptor(StrCat(
        "composite: the members of a partition cover ", covered_.value_or(UINT64_MAX), " of the ",
        *volume_, " elements of ", ShapeText(View(shape_)), ", they must cover all"));
  }
}

void CheckComposite(const TensorDescriptor& head,
                    std::span<const TensorDescriptor* const> members) {
  CompositeChecker checker(head);
  CompositionRule rule = std::get<CompositeHeadLayout>(head.layout()).rule;
  for (size_t i = 0; i < members.size(); ++i) checker.Add(*members[i], RoleByPosition(rule, i));
  checker.Close();
}

CompositeWalk::CompositeWalk(const TensorDescriptor& head, size_t max_depth)
    : max_depth_(max_depth) {
  Open(head);
  CloseFinished();
}

void CompositeWalk::Add(const TensorDescriptor& next) {
  open_.back().Add(next);
  if (IsVirtual(next.layout())) Open(next);
  CloseFinished();
}

void CompositeWalk::Open(const TensorDescriptor& head) {
  CheckCompositeDepth(open_.size() + 1, max_depth_);
  open_.emplace_back(head);
}

void CompositeWalk::CloseFinished() {
  while (!open_.empty() && open_.back().has_all_members()) {
    open_.back().Close();
    open_.pop_back();
  }
}

}  // namespace hurray
