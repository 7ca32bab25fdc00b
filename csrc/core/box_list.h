// Boxes in an index space, and whether any two of them meet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/shape.h"

namespace hurray {

inline constexpr uint64_t kMaxOverlapSteps = uint64_t{1} << 30;

// Axis-parallel boxes of one rank. Not safe to change from two threads at once.
class BoxList {
 public:
  explicit BoxList(size_t rank) noexcept : rank_(rank) {}

  // REQUIRES: both have `rank` entries, and their sums fit 64 bits.
  void Add(ShapeView offset, ShapeView extents);
  size_t size() const noexcept { return size_; }

  // Two boxes that overlap; nullopt if none do. Boxes a and b overlap if a begins before b ends
  // and b begins before a ends in every dimension. So an empty box overlaps another only
  // strictly inside it, and without dimensions any two overlap.
  //
  // Boxes in a grid, or cut from each other by straight cuts, take about n log n steps, and so do
  // those that rarely share a stretch of some dimension. There are arrangements that take n^2;
  // throws kInvalidDescriptor beyond `max_steps`; the default takes seconds.
  std::optional<std::pair<size_t, size_t>> FindOverlap(uint64_t max_steps = kMaxOverlapSteps) const;

 private:
  size_t rank_;
  size_t size_ = 0;
  std::vector<uint64_t> bounds_;  // begin and end in each dimension, box after box
};

}  // namespace hurray
