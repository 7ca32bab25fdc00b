// Where elements lie in tiled, Morton and Hilbert order, found by walking the storage and noting
// what comes next rather than by any formula for an index.
#pragma once

#include <map>

#include "core/layouts/tiled.h"
#include "model/indices.h"

namespace hurray::model {

using Offsets = std::map<Index, int64_t>;  // of all elements

// Numbers the indices of a box in one order.
inline Offsets Numbered(TileOrder order, const std::vector<uint64_t>& extents,
                        const std::optional<Strides>& strides) {
  Offsets numbers;
  if (order == TileOrder::kStrided) {
    for (const Index& index : AllIndices(extents)) {
      int64_t sum = 0;
      for (size_t k = 0; k < index.size(); ++k)
        sum += (*strides)[k] * static_cast<int64_t>(index[k]);
      numbers[index] = sum;
    }
    return numbers;
  }
  int64_t next = 0;
  for (const Index& index :
       order == TileOrder::kRowMajor ? AllIndices(extents) : AllIndicesByColumn(extents)) {
    numbers[index] = next++;
  }
  return numbers;
}

// All elements of whole tiles, those of the padding too.
inline Offsets PaddedTiles(const TiledRecord& record, const std::vector<uint64_t>& extents) {
  std::vector<uint64_t> tile(record.tile_shape.begin(), record.tile_shape.end());
  std::vector<uint64_t> grid;
  int64_t volume = 1;
  for (size_t k = 0; k < tile.size(); ++k) {
    uint64_t tiles = 0;
    while (tiles * tile[k] < extents[k]) ++tiles;
    grid.push_back(tiles);
    volume *= static_cast<int64_t>(tile[k]);
  }
  Offsets inside = record.inner == TileOrder::kTiled
                       ? PaddedTiles(*record.inner_tiled, tile)
                       : Numbered(record.inner, tile, record.inner_strides);
  Offsets all;
  for (const auto& [tile_index, number] : Numbered(record.outer, grid, record.outer_strides)) {
    for (const auto& [inner_index, inner_offset] : inside) {
      Index index;
      for (size_t k = 0; k < tile.size(); ++k) {
        index.push_back(tile_index[k] * tile[k] + inner_index[k]);
      }
      all[index] = number * volume + inner_offset;
    }
  }
  return all;
}

// Deals the bits of each code out to the dimensions in turn, until every element has come up.
inline Offsets MortonOrder(const std::vector<uint32_t>& bits,
                           const std::vector<uint64_t>& extents) {
  Offsets found;
  size_t wanted = AllIndices(extents).size();
  for (uint64_t code = 0; found.size() < wanted; ++code) {
    Index index(extents.size(), 0);
    bool used = true;
    for (uint32_t position = 0; position < 64; ++position) {
      if (((code >> position) & 1) == 0) continue;
      size_t dimension = position % extents.size();
      uint32_t bit = position / static_cast<uint32_t>(extents.size());
      if (bit >= bits[dimension]) used = false;
      index[dimension] += uint64_t{1} << bit;
    }
    for (size_t k = 0; k < extents.size(); ++k) used = used && index[k] < extents[k];
    if (used) found[index] = static_cast<int64_t>(code);
  }
  return found;
}

// The curve in two dimensions, drawn by turning and joining four copies of the next smaller one.
inline std::vector<Index> HilbertCurve2D(uint32_t order) {
  if (order == 0) return {{0, 0}};
  uint64_t half = uint64_t{1} << (order - 1);
  std::vector<Index> smaller = HilbertCurve2D(order - 1);
  // Each whole curve enters at the origin and leaves along dimension 0 or 1, depending on
  // whether its order is even; the first copy is reflected at the diagonal.
  std::vector<Index> curve;
  auto reflect = [](const Index& p) { return Index{p[1], p[0]}; };
  for (const Index& p : smaller) curve.push_back(reflect(p));
  for (const Index& p : smaller) curve.push_back({p[0], p[1] + half});
  for (const Index& p : smaller) curve.push_back({p[0] + half, p[1] + half});
  for (const Index& p : smaller) {
    Index q = reflect(p);
    curve.push_back({2 * half - 1 - q[0], half - 1 - q[1]});
  }
  return curve;
}

}  // namespace hurray::model
