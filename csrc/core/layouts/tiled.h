// Tiled: the index space is cut into equal tiles, whose order and whose inner order are chosen
// separately; a tile may itself be tiled. Format: section 5.3.
#pragma once

#include <memory>

#include "core/layouts/layout_kind.h"

namespace hurray {

enum class TileOrder : uint8_t { kRowMajor = 1, kColMajor = 2, kStrided = 3, kTiled = 4 };
std::string_view TileOrderName(TileOrder order) noexcept;
std::optional<TileOrder> TileOrderOf(std::string_view name) noexcept;

inline constexpr size_t kMaxTileLevels = 8;

// One level of tiling.
struct TiledRecord {
  Shape tile_shape;                        // in elements, each at least 1
  TileOrder outer = TileOrder::kRowMajor;  // of the tiles; never kTiled
  TileOrder inner = TileOrder::kRowMajor;  // inside a tile
  // Present exactly where the order of that name is kStrided.
  std::optional<Strides> outer_strides;  // in whole tiles
  std::optional<Strides> inner_strides;  // in elements
  // Present exactly if `inner` is kTiled.
  std::shared_ptr<const TiledRecord> inner_tiled;

  friend bool operator==(const TiledRecord& a, const TiledRecord& b) noexcept;
};

struct TiledLayout : DenseLayoutBase {
  static constexpr uint8_t kTag = 0x04;
  static constexpr std::string_view kName = "tiled";

  // Never null. Behind a pointer, which all copies share, because it is large and rare.
  std::shared_ptr<const TiledRecord> record;

  // Throws kInvalidDescriptor unless every tile is at least 1 long, strides and inner tiles are
  // there exactly where the orders want them and as long as the tile shape, inner tiles divide
  // outer ones, and there are at most 8 levels.
  void Check() const;

  static TiledLayout Decode(ByteReader& in, size_t rank);
  void Encode(ByteWriter& out) const noexcept;
  static uint8_t tag() noexcept { return kTag; }
  size_t encoded_size() const noexcept;

  void CheckShape(ShapeView shape) const;
  MinimumSize MinimumSizeOf(size_t, const Geometry& geometry) const;
  std::optional<int64_t> ElementOffset(ShapeView shape, IndexView index, BufferSpans) const;

  friend bool operator==(const TiledLayout& a, const TiledLayout& b) noexcept {
    return a.record == b.record || *a.record == *b.record;
  }
};

}  // namespace hurray
