#include "io/composite_tree.h"

#include <algorithm>
#include <utility>

namespace hurray {

namespace {

CompositionRule RuleOf(const CompositeData& composite) noexcept {
  return std::get_if<CompositeHeadLayout>(&composite.head.layout())->rule;
}

void CheckLevel(const CompositeData& composite, size_t depth) {
  CheckCompositeDepth(depth);
  std::vector<const TensorDescriptor*> members;
  members.reserve(composite.members.size());
  for (const Item& member : composite.members) members.push_back(&member.descriptor());
  CheckComposite(composite.head, members);
  for (const Item& member : composite.members) {
    if (auto* nested = std::get_if<CompositeData>(&member)) CheckLevel(*nested, depth + 1);
  }
}

}  // namespace

void MemberCounter::Add(std::optional<uint32_t> member_count) {
  if (member_count) {
    CheckCompositeDepth(depth() + 1);
    if (*member_count > 0) {
      missing_.push_back(*member_count);
      return;
    }
  }
  while (!missing_.empty() && --missing_.back() == 0) missing_.pop_back();
}

CompositeBuilder::CompositeBuilder(TensorDescriptor head) : walk_(head) {
  open_.push_back({std::move(head), {}});
}

void CompositeBuilder::Add(TensorData tensor) {
  // The role belongs to the composite, not to the tensor.
  tensor.descriptor = tensor.descriptor.WithMemberRole(std::nullopt);
  open_.back().members.push_back(std::move(tensor));
  CloseFinished();
}

void CompositeBuilder::AddHead(TensorDescriptor head) {
  open_.push_back({std::move(head), {}});
  CloseFinished();
}

void CompositeBuilder::CloseFinished() {
  while (open_.size() > std::max<size_t>(walk_.depth(), 1)) {
    CompositeData finished = std::move(open_.back());
    open_.pop_back();
    open_.back().members.push_back(std::move(finished));
  }
}

void CheckTree(const CompositeData& composite) { CheckLevel(composite, 1); }

TensorDescriptor MemberOf(const CompositeData& composite, size_t i) {
  return MemberAsWritten(composite.members[i].descriptor(), RuleOf(composite), i);
}

}  // namespace hurray
