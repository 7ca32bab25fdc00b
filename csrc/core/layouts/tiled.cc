#include "core/layouts/tiled.h"

#include <array>
#include <utility>
#include <vector>

#include "core/layouts/row_major.h"
#include "core/layouts/strided.h"

namespace hurray {

namespace {

constexpr std::array<std::string_view, 4> kOrderNames{"row_major", "col_major", "strided", "tiled"};

template <typename T, size_t N>
std::span<const T> View(const SmallVector<T, N>& values) noexcept {
  return {values.data(), values.size()};
}

TileOrder ReadOrder(ByteReader& in, std::string_view field, TileOrder last) {
  uint8_t value = in.ReadU8(field);
  if (value < 1 || value > static_cast<uint8_t>(last)) {
    ThrowInvalidDescriptor(StrCat("layout tiled: ", field, " is ", value, ", it must be from 1 to ",
                                  static_cast<uint8_t>(last)));
  }
  return static_cast<TileOrder>(value);
}

std::optional<Strides> ReadStrides(ByteReader& in, TileOrder order, size_t rank,
                                   std::string_view field) {
  if (order != TileOrder::kStrided) return std::nullopt;
  Strides strides(rank);
  in.ReadNumbers(std::span(strides.data(), rank), field);
  return strides;
}

void CheckStrides(const std::optional<Strides>& strides, TileOrder order, size_t rank,
                  std::string_view side, size_t level) {
  bool wanted = order == TileOrder::kStrided;
  if (strides.has_value() != wanted) {
    ThrowInvalidDescriptor(StrCat("layout tiled, level ", level, ": ", side, "_strides are ",
                                  wanted ? "missing" : "given", ", but ", side, "_layout is ",
                                  TileOrderName(order)));
  }
  if (wanted && strides->size() != rank) {
    ThrowInvalidDescriptor(StrCat("layout tiled, level ", level, ": ", side, "_strides has ",
                                  strides->size(), " entries, tile_shape has ", rank));
  }
}

void CheckLevel(const TiledRecord& record, size_t level) {
  const Shape& tile = record.tile_shape;
  if (tile.empty()) {
    ThrowInvalidDescriptor(StrCat("layout tiled, level ", level, ": tile_shape is empty"));
  }
  for (size_t k = 0; k < tile.size(); ++k) {
    if (tile[k] == 0) {
      ThrowInvalidDescriptor(StrCat("layout tiled, level ", level, ": tile_shape[", k,
                                    "] is 0, it must be at least 1"));
    }
  }
  if (record.outer == TileOrder::kTiled) {
    ThrowInvalidDescriptor(
        StrCat("layout tiled, level ", level, ": outer_layout is tiled, only inner_layout may be"));
  }
  CheckStrides(record.outer_strides, record.outer, tile.size(), "outer", level);
  CheckStrides(record.inner_strides, record.inner, tile.size(), "inner", level);
  bool nested = record.inner == TileOrder::kTiled;
  if ((record.inner_tiled != nullptr) != nested) {
    ThrowInvalidDescriptor(StrCat("layout tiled, level ", level, ": inner_tiled is ",
                                  nested ? "missing" : "given", ", but inner_layout is ",
                                  TileOrderName(record.inner)));
  }
  // Inner tiles of another rank are left to the check against a shape.
  if (!nested || record.inner_tiled->tile_shape.size() != tile.size()) return;
  const Shape& inner = record.inner_tiled->tile_shape;
  for (size_t k = 0; k < tile.size(); ++k) {
    if (inner[k] != 0 && tile[k] % inner[k] != 0) {
      ThrowInvalidDescriptor(StrCat("layout tiled, level ", level, ": tile_shape[", k, "] is ",
                                    tile[k], ", which the inner tile's ", inner[k],
                                    " does not divide"));
    }
  }
}

// Offsets that an order reaches over a box of these extents, none of which is 0; nullopt beyond
// 64 bits.
std::optional<OffsetExtremes> OrderExtremes(TileOrder order, const Shape& extents,
                                            const std::optional<Strides>& strides) {
  if (order == TileOrder::kStrided) return StridedExtremes(View(extents), View(*strides));
  auto count = CheckedProduct(View(extents));
  if (!count || *count > uint64_t{INT64_MAX}) return std::nullopt;
  return OffsetExtremes{0, static_cast<__int128>(*count) - 1};
}

Shape GridOf(ShapeView extents, const Shape& tile) {
  Shape grid(extents.size());
  for (size_t k = 0; k < extents.size(); ++k) grid[k] = CeilDiv(extents[k], tile[k]);
  return grid;
}

// Boundary tiles are stored whole, so the offsets inside a tile are those of a full one.
std::optional<OffsetExtremes> RecordExtremes(const TiledRecord& record, ShapeView extents) {
  auto tiles =
      OrderExtremes(record.outer, GridOf(extents, record.tile_shape), record.outer_strides);
  auto inside = record.inner == TileOrder::kTiled
                    ? RecordExtremes(*record.inner_tiled, View(record.tile_shape))
                    : OrderExtremes(record.inner, record.tile_shape, record.inner_strides);
  auto volume = CheckedProduct(View(record.tile_shape));
  if (!tiles || !inside || !volume) return std::nullopt;
  // Below 2^63 times below 2^64, plus below 2^63: exact in 128 bits.
  OffsetExtremes out{tiles->low * *volume + inside->low, tiles->high * *volume + inside->high};
  constexpr __int128 kLimit = INT64_MAX;
  if (out.low < -kLimit || out.high > kLimit) return std::nullopt;
  return out;
}

// Wraps silently; the size check has shown that no result leaves 64 bits.
uint64_t OrderOffset(TileOrder order, ShapeView extents, IndexView index,
                     const std::optional<Strides>& strides) noexcept {
  if (order == TileOrder::kRowMajor) return RowMajorOffset(extents, index);
  if (order == TileOrder::kColMajor) return ColMajorOffset(extents, index);
  uint64_t offset = 0;
  for (size_t k = 0; k < index.size(); ++k) {
    offset += static_cast<uint64_t>((*strides)[k]) * index[k];
  }
  return offset;
}

}  // namespace

std::string_view TileOrderName(TileOrder order) noexcept {
  return kOrderNames[static_cast<size_t>(order) - 1];
}

std::optional<TileOrder> TileOrderOf(std::string_view name) noexcept {
  for (size_t i = 0; i < kOrderNames.size(); ++i) {
    if (kOrderNames[i] == name) return static_cast<TileOrder>(i + 1);
  }
  return std::nullopt;
}

bool operator==(const TiledRecord& a, const TiledRecord& b) noexcept {
  if (a.tile_shape != b.tile_shape || a.outer != b.outer || a.inner != b.inner ||
      a.outer_strides != b.outer_strides || a.inner_strides != b.inner_strides) {
    return false;
  }
  if (a.inner_tiled == b.inner_tiled) return true;
  return a.inner_tiled != nullptr && b.inner_tiled != nullptr && *a.inner_tiled == *b.inner_tiled;
}

void TiledLayout::Check() const {
  size_t level = 1;
  for (const TiledRecord* at = record.get(); at != nullptr; at = at->inner_tiled.get()) {
    if (level > kMaxTileLevels) {
      ThrowInvalidDescriptor(
          StrCat("layout tiled has more than ", kMaxTileLevels, " levels of tiles"));
    }
    CheckLevel(*at, level++);
  }
}

TiledLayout TiledLayout::Decode(ByteReader& in, size_t rank) {
  std::vector<TiledRecord> records;
  do {
    if (records.size() == kMaxTileLevels) {
      ThrowInvalidDescriptor(
          StrCat("layout tiled has more than ", kMaxTileLevels, " levels of tiles"));
    }
    TiledRecord& record = records.emplace_back();
    record.tile_shape = Shape(rank);
    in.ReadNumbers(std::span(record.tile_shape.data(), rank), "tile_shape");
    record.outer = ReadOrder(in, "outer_layout", TileOrder::kStrided);
    record.inner = ReadOrder(in, "inner_layout", TileOrder::kTiled);
    in.ReadReserved(2, "layout tiled");
    record.outer_strides = ReadStrides(in, record.outer, rank, "outer_strides");
    record.inner_strides = ReadStrides(in, record.inner, rank, "inner_strides");
  } while (records.back().inner == TileOrder::kTiled);

  std::shared_ptr<const TiledRecord> innermost;
  for (size_t i = records.size(); i-- > 0;) {
    records[i].inner_tiled = std::move(innermost);
    innermost = std::make_shared<const TiledRecord>(std::move(records[i]));
  }
  TiledLayout layout{{}, std::move(innermost)};
  layout.Check();
  return layout;
}

void TiledLayout::Encode(ByteWriter& out) const noexcept {
  for (const TiledRecord* at = record.get(); at != nullptr; at = at->inner_tiled.get()) {
    out.WriteNumbers(View(at->tile_shape));
    out.WriteU8(static_cast<uint8_t>(at->outer));
    out.WriteU8(static_cast<uint8_t>(at->inner));
    out.WriteZeros(2);
    if (at->outer_strides) out.WriteNumbers(View(*at->outer_strides));
    if (at->inner_strides) out.WriteNumbers(View(*at->inner_strides));
  }
}

size_t TiledLayout::encoded_size() const noexcept {
  size_t size = 0;
  for (const TiledRecord* at = record.get(); at != nullptr; at = at->inner_tiled.get()) {
    size += 8 * at->tile_shape.size() + 4;
    if (at->outer_strides) size += 8 * at->outer_strides->size();
    if (at->inner_strides) size += 8 * at->inner_strides->size();
  }
  return size;
}

void TiledLayout::CheckShape(ShapeView shape) const {
  CheckRank(kName, shape, 1);
  size_t level = 1;
  for (const TiledRecord* at = record.get(); at != nullptr; at = at->inner_tiled.get(), ++level) {
    if (at->tile_shape.size() != shape.size()) {
      ThrowInvalidDescriptor(StrCat("layout tiled, level ", level, ": tile_shape has ",
                                    at->tile_shape.size(), " entries, the shape ", ShapeText(shape),
                                    " needs ", shape.size()));
    }
  }
}

MinimumSize TiledLayout::MinimumSizeOf(size_t, const Geometry& geometry) const {
  if (HasDynamicExtent(geometry.shape)) return MinimumSize::Unknown();
  if (HasZeroExtent(geometry.shape)) return MinimumSize::Bytes(geometry.byte_offset);
  auto extremes = RecordExtremes(*record, geometry.shape);
  if (!extremes) return MinimumSize::Hopeless("its tiles reach beyond 64 bits");
  return SpanMinimum(geometry, extremes->low, extremes->high);
}

std::optional<int64_t> TiledLayout::ElementOffset(ShapeView shape, IndexView index,
                                                  BufferSpans) const {
  Shape inside(index);  // where in the current level the element is
  Shape tile_index(index.size());
  ShapeView extents = shape;
  uint64_t offset = 0;
  for (const TiledRecord* at = record.get();; at = at->inner_tiled.get()) {
    uint64_t volume = 1;
    for (size_t k = 0; k < inside.size(); ++k) {
      volume *= at->tile_shape[k];
      tile_index[k] = inside[k] / at->tile_shape[k];
      inside[k] %= at->tile_shape[k];
    }
    Shape grid = GridOf(extents, at->tile_shape);
    offset += volume * OrderOffset(at->outer, View(grid), View(tile_index), at->outer_strides);
    extents = View(at->tile_shape);
    if (at->inner != TileOrder::kTiled) {
      offset += OrderOffset(at->inner, extents, View(inside), at->inner_strides);
      return static_cast<int64_t>(offset);
    }
  }
}

}  // namespace hurray
