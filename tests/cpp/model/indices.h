// Small index spaces, written out in full.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hurray::model {

using Index = std::vector<uint64_t>;

// Every index of a box of these extents, the last dimension varying fastest.
inline std::vector<Index> AllIndices(const std::vector<uint64_t>& extents) {
  std::vector<Index> all{{}};
  for (uint64_t extent : extents) {
    std::vector<Index> longer;
    for (const Index& index : all) {
      for (uint64_t i = 0; i < extent; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// The same indices with the first dimension varying fastest.
inline std::vector<Index> AllIndicesByColumn(const std::vector<uint64_t>& extents) {
  std::vector<uint64_t> reversed(extents.rbegin(), extents.rend());
  std::vector<Index> all = AllIndices(reversed);
  for (Index& index : all) std::reverse(index.begin(), index.end());
  return all;
}

}  // namespace hurray::model
