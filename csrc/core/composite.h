// Do these members make a composite? Format: section 8.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/box_list.h"
#include "core/descriptor.h"

namespace hurray {

// Composite heads on a path from the outermost one to a tensor.
inline constexpr size_t kMaxCompositeDepth = 8;

// Throws kInvalidDescriptor if heads are nested deeper than `limit`. A head whose members are all
// tensors has depth 1.
void CheckCompositeDepth(size_t depth, size_t limit = kMaxCompositeDepth);

// The role that member number `position` has by its place; nullopt unless in an overlay.
std::optional<MemberRole> RoleByPosition(CompositionRule rule, size_t position) noexcept;

// The descriptor of a member as it is written: with the role of its place, whatever role it had
// elsewhere. REQUIRES: CompositeChecker accepted the member there.
TensorDescriptor MemberAsWritten(const TensorDescriptor& member, CompositionRule rule,
                                 size_t position);

// Checks the members of one head, in order and as they come. A nested head counts as one member;
// its own members belong to a checker of its own. After a throw the composite is beyond repair.
// Keeps nothing of the members but the boxes of a partition. One thread at a time.
class CompositeChecker {
 public:
  // Throws kInvalidDescriptor for a partition whose volume exceeds 64 bits.
  // REQUIRES: `head` was validated and is a composite head.
  explicit CompositeChecker(const TensorDescriptor& head);

  uint32_t member_count() const noexcept { return head_.member_count; }
  uint32_t added() const noexcept { return added_; }
  bool has_all_members() const noexcept { return added_ == head_.member_count; }

  // Checks the next member in the role it has on the wire. Throws kInvalidDescriptor.
  // REQUIRES: `member` was validated.
  void Add(const TensorDescriptor& member) { Add(member, member.member_role()); }
  // The same for a member that would be written in that role.
  void Add(const TensorDescriptor& member, std::optional<MemberRole> role);

  // Checks what only all members together can tell. Throws kInvalidDescriptor if some are
  // missing, or overlap, or do not cover a partition.
  void Close() const;

 private:
  void CheckBox(const TensorDescriptor& member) const;
  void CheckRole(const TensorDescriptor& member, std::optional<MemberRole> role) const;

  CompositeHeadLayout head_;
  ElementType dtype_;
  Shape shape_;
  uint32_t added_ = 0;
  // Of a partition only.
  BoxList boxes_;
  std::optional<uint64_t> volume_;       // of the head
  std::optional<uint64_t> covered_ = 0;  // sum over the members; nullopt beyond 64 bits
};

// Checks all members of a composite held in memory, whose roles follow from their places.
// Throws kInvalidDescriptor. REQUIRES: as CompositeChecker.
void CheckComposite(const TensorDescriptor& head, std::span<const TensorDescriptor* const> members);

// Follows descriptors in the order they are written, heads before their members, from one
// outermost head until its last member, and checks every composite on the way.
class CompositeWalk {
 public:
  // Throws kInvalidDescriptor as CompositeChecker does. REQUIRES: as CompositeChecker.
  explicit CompositeWalk(const TensorDescriptor& head, size_t max_depth = kMaxCompositeDepth);

  // Checks the next descriptor as the next member of the innermost open head; if it is a head
  // itself, what follows are its members. Throws kInvalidDescriptor.
  // REQUIRES: !complete(), `next` was validated.
  void Add(const TensorDescriptor& next);

  // Whether the outermost composite has all its members.
  bool complete() const noexcept { return open_.empty(); }
  // Heads that wait for members.
  size_t depth() const noexcept { return open_.size(); }

 private:
  void Open(const TensorDescriptor& head);
  void CloseFinished();

  std::vector<CompositeChecker> open_;  // outermost first
  size_t max_depth_;
};

}  // namespace hurray
