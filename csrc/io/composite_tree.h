// Composites as they lie in files and streams: heads with their members behind them.
// Format: section 8.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/composite.h"
#include "io/item.h"

namespace hurray {

// Tells which of the tensors that follow each other are members, without checking them.
class MemberCounter {
 public:
  // The next tensor, with its member count if it is a head. Throws kInvalidDescriptor for too
  // many heads in each other.
  void Add(std::optional<uint32_t> member_count);

  // How many heads are waiting for members.
  size_t depth() const noexcept { return missing_.size(); }
  // How many members the innermost of them waits for. REQUIRES: depth() > 0.
  uint32_t missing() const noexcept { return missing_.back(); }

 private:
  std::vector<uint32_t> missing_;  // members still to come, by depth
};

// Puts a composite together from what is read, in the order it is read, and checks it on the way.
// All of it throws kInvalidDescriptor.
class CompositeBuilder {
 public:
  explicit CompositeBuilder(TensorDescriptor head);

  bool complete() const noexcept { return walk_.complete(); }
  // How many heads are waiting for members.
  size_t depth() const noexcept { return walk_.depth(); }

  // Whether the next descriptor fits, and what follows from it; its data may be read after that.
  void Check(const TensorDescriptor& next) { walk_.Add(next); }
  // Adds what was checked last.
  void Add(TensorData tensor);
  void AddHead(TensorDescriptor head);

  // The whole, its members without roles. REQUIRES: complete().
  CompositeData Take() { return std::move(open_.front()); }

 private:
  void CloseFinished();

  CompositeWalk walk_;
  std::vector<CompositeData> open_;  // outermost first
};

// Checks a composite held in memory with all that it holds. Throws kInvalidDescriptor.
void CheckTree(const CompositeData& composite);

// The descriptor that is written for a member of a checked composite.
TensorDescriptor MemberOf(const CompositeData& composite, size_t i);

}  // namespace hurray
