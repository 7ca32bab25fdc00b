// Sparse tensors built from a plain list of coordinates by the definitions of their layouts.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "model/indices.h"

namespace hurray::model {

// Each index of the box with this probability, in random order.
inline std::vector<Index> RandomEntries(const std::vector<uint64_t>& extents, double probability,
                                        unsigned seed) {
  std::mt19937 random(seed);
  std::bernoulli_distribution stored(probability);
  std::vector<Index> entries;
  for (const Index& index : AllIndices(extents)) {
    if (stored(random)) entries.push_back(index);
  }
  std::shuffle(entries.begin(), entries.end(), random);
  return entries;
}

// Positions of the entries, by which every layout below numbers its values.
using Positions = std::map<Index, int64_t>;

inline Positions PositionsOf(const std::vector<Index>& entries) {
  Positions positions;
  for (const Index& entry : entries) {
    positions[entry] = static_cast<int64_t>(positions.size());
  }
  return positions;
}

// Entries sorted with dimension order[0] counting most.
inline std::vector<Index> Sorted(std::vector<Index> entries, const std::vector<uint32_t>& order) {
  auto key = [&](const Index& entry) {
    Index permuted;
    for (uint32_t dimension : order) permuted.push_back(entry[dimension]);
    return permuted;
  };
  std::sort(entries.begin(), entries.end(),
            [&](const Index& a, const Index& b) { return key(a) < key(b); });
  return entries;
}

inline std::vector<uint64_t> CooIndices(const std::vector<Index>& entries) {
  std::vector<uint64_t> flat;
  for (const Index& entry : entries) flat.insert(flat.end(), entry.begin(), entry.end());
  return flat;
}

struct Compressed {
  std::vector<uint64_t> pointers, indices;
};

// Of entries sorted by the major dimension, then by the other one.
inline Compressed Compress(const std::vector<Index>& entries, size_t major, uint64_t extent) {
  Compressed out;
  out.pointers.push_back(0);
  for (uint64_t slot = 0; slot < extent; ++slot) {
    for (const Index& entry : entries) {
      if (entry[major] == slot) out.indices.push_back(entry[1 - major]);
    }
    out.pointers.push_back(out.indices.size());
  }
  return out;
}

// One level for each dimension: its nodes are the distinct beginnings of that length, and each
// node of the level above points at where its children start.
inline std::vector<Compressed> CompressLevels(const std::vector<Index>& entries,
                                              const std::vector<uint32_t>& order) {
  std::vector<Compressed> levels;
  std::set<Index> parents{{}};
  for (size_t level = 0; level < order.size(); ++level) {
    std::set<Index> nodes;
    for (const Index& entry : entries) {
      Index beginning;
      for (size_t l = 0; l <= level; ++l) beginning.push_back(entry[order[l]]);
      nodes.insert(beginning);
    }
    Compressed out;
    out.pointers.push_back(0);
    for (const Index& parent : parents) {
      for (const Index& node : nodes) {
        if (std::equal(parent.begin(), parent.end(), node.begin())) {
          out.indices.push_back(node.back());
        }
      }
      out.pointers.push_back(out.indices.size());
    }
    levels.push_back(out);
    parents = nodes;
  }
  return levels;
}

}  // namespace hurray::model
