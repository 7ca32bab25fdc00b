#include "core/box_list.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

// Groups of boxes up to this size are compared pair by pair.
constexpr size_t kSmallGroup = 16;

using Ids = std::span<uint32_t>;

// One search. Groups of boxes wait on a stack; each is cut where no box crosses, or swept along
// the dimension in which the fewest pairs share a stretch. Only pairs of one group can overlap.
class OverlapSearch {
 public:
  OverlapSearch(const std::vector<uint64_t>& bounds, size_t rank, size_t count, uint64_t max_steps)
      : bounds_(bounds), rank_(rank), max_steps_(max_steps), ids_(count) {
    std::iota(ids_.begin(), ids_.end(), 0u);
  }

  std::optional<std::pair<size_t, size_t>> Run() {
    if (ids_.size() < 2) return std::nullopt;
    if (!KeepDimensionsThatDiffer()) return std::nullopt;
    if (dimensions_.empty()) return std::pair<size_t, size_t>{0, 1};
    waiting_.push_back(ids_);
    while (!waiting_.empty() && !found_) {
      Ids group = waiting_.back();
      waiting_.pop_back();
      if (group.size() <= kSmallGroup) {
        ComparePairs(group);
      } else {
        CutOrSweep(group);
      }
    }
    return found_;
  }

 private:
  uint64_t Begin(uint32_t id, size_t k) const noexcept { return bounds_[2 * (id * rank_ + k)]; }
  uint64_t End(uint32_t id, size_t k) const noexcept { return bounds_[2 * (id * rank_ + k) + 1]; }

  // Dimensions in which all boxes lie alike tell no two apart. Returns false if they do so by
  // being empty there: then no two overlap.
  bool KeepDimensionsThatDiffer() {
    for (size_t k = 0; k < rank_; ++k) {
      bool alike = std::all_of(ids_.begin(), ids_.end(), [&](uint32_t id) {
        return Begin(id, k) == Begin(0, k) && End(id, k) == End(0, k);
      });
      if (!alike) {
        dimensions_.push_back(k);
      } else if (Begin(0, k) == End(0, k)) {
        return false;
      }
    }
    return true;
  }

  void Spend(uint64_t steps) {
    steps_ += steps;
    if (steps_ > max_steps_) {
      ThrowInvalidDescriptor(StrCat("composite: its ", ids_.size(),
                                    " members are arranged so that "
                                    "telling whether any overlap takes more than ",
                                    max_steps_, " steps, which is the limit"));
    }
  }

  bool Overlap(uint32_t a, uint32_t b) const noexcept {
    for (size_t k : dimensions_) {
      if (Begin(a, k) >= End(b, k) || Begin(b, k) >= End(a, k)) return false;
    }
    return true;
  }

  void Compare(uint32_t a, uint32_t b) {
    if (Overlap(a, b)) found_ = std::minmax(size_t{a}, size_t{b});
  }

  void ComparePairs(Ids group) {
    Spend(group.size() * group.size() / 2 * dimensions_.size());
    for (size_t i = 0; i < group.size() && !found_; ++i) {
      for (size_t j = i + 1; j < group.size() && !found_; ++j) Compare(group[i], group[j]);
    }
  }

  void SortBy(Ids group, size_t k) {
    Spend(group.size() * static_cast<uint64_t>(std::bit_width(group.size())));
    std::sort(group.begin(), group.end(),
              [&](uint32_t a, uint32_t b) { return Begin(a, k) < Begin(b, k); });
  }

  // The end of the candidates of group[i]: the later boxes that begin before it ends.
  size_t CandidatesEnd(Ids group, size_t i, size_t k) const {
    auto end = std::partition_point(
        group.begin() + static_cast<std::ptrdiff_t>(i) + 1, group.end(),
        [&, limit = End(group[i], k)](uint32_t id) { return Begin(id, k) < limit; });
    return static_cast<size_t>(end - group.begin());
  }

  // Calls visit(first, last) for each part of a sorted group that no box connects to the next.
  template <typename Visit>
  void ForEachPart(Ids group, size_t k, Visit visit) const {
    size_t first = 0;
    uint64_t reach = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      if (i > first && Begin(group[i], k) >= reach) {
        visit(first, i);
        first = i;
        reach = 0;
      }
      reach = std::max(reach, End(group[i], k));
    }
    visit(first, group.size());
  }

  void CutOrSweep(Ids group) {
    constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
    uint64_t fewest = kNone, fewest_with_cut = kNone;
    size_t sweep = 0, cut = 0;
    for (size_t k : dimensions_) {
      SortBy(group, k);
      uint64_t pairs = 0;
      for (size_t i = 0; i < group.size(); ++i) pairs += CandidatesEnd(group, i, k) - i - 1;
      if (pairs <= kSmallGroup * group.size()) return Sweep(group, k);
      size_t parts = 0;
      ForEachPart(group, k, [&](size_t, size_t) { ++parts; });
      if (pairs < fewest) {
        fewest = pairs;
        sweep = k;
      }
      if (parts > 1 && pairs < fewest_with_cut) {
        fewest_with_cut = pairs;
        cut = k;
      }
    }
    if (fewest_with_cut == kNone) {
      SortBy(group, sweep);
      return Sweep(group, sweep);
    }
    SortBy(group, cut);
    ForEachPart(group, cut, [&](size_t first, size_t last) {
      if (last - first > 1) waiting_.push_back(group.subspan(first, last - first));
    });
  }

  void Sweep(Ids group, size_t k) {
    for (size_t i = 0; i < group.size() && !found_; ++i) {
      size_t end = CandidatesEnd(group, i, k);
      Spend((end - i) * dimensions_.size());
      for (size_t j = i + 1; j < end && !found_; ++j) Compare(group[i], group[j]);
    }
  }

  const std::vector<uint64_t>& bounds_;
  size_t rank_;
  uint64_t max_steps_;
  std::vector<uint32_t> ids_;
  std::vector<size_t> dimensions_;
  std::vector<Ids> waiting_;
  std::optional<std::pair<size_t, size_t>> found_;
  uint64_t steps_ = 0;
};

}  // namespace

void BoxList::Add(ShapeView offset, ShapeView extents) {
  for (size_t k = 0; k < rank_; ++k) {
    bounds_.push_back(offset[k]);
    bounds_.push_back(offset[k] + extents[k]);
  }
  ++size_;
}

std::optional<std::pair<size_t, size_t>> BoxList::FindOverlap(uint64_t max_steps) const {
  return OverlapSearch(bounds_, rank_, size_, max_steps).Run();
}

}  // namespace hurray
