#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

constexpr std::string_view kOrders = "'row_major', 'col_major', 'strided' or, inside, 'tiled'";
// Deeper ones are shown as "...".
constexpr size_t kShownLevels = 4;

std::optional<Strides> ToStrides(PyObject* object, std::string_view name) {
  if (NoneToNull(object) == nullptr) return std::nullopt;
  return ToNumbers<int64_t>(object, name);
}

Ref StridesToPython(const std::optional<Strides>& strides) {
  return strides ? ToTuple(*strides) : Ref::None();
}

std::string RecordText(const TiledRecord& record, size_t level) {
  CallText text("TiledLayout");
  text.Add("tile_shape", TupleText(record.tile_shape))
      .Add("outer_layout", QuotedText(TileOrderName(record.outer)))
      .Add("inner_layout", QuotedText(TileOrderName(record.inner)));
  if (record.outer_strides) text.Add("outer_strides", TupleText(*record.outer_strides));
  if (record.inner_strides) text.Add("inner_strides", TupleText(*record.inner_strides));
  if (record.inner_tiled != nullptr) {
    text.Add("inner_tiled",
             level == kShownLevels ? "..." : RecordText(*record.inner_tiled, level + 1));
  }
  return text.Done();
}

struct TiledClass : LayoutClass<TiledLayout> {
  static constexpr char kName[] = "hurray.TiledLayout";
  static constexpr char kDoc[] =
      R"(TiledLayout(tile_shape, outer_layout='row_major', inner_layout='row_major',
            outer_strides=None, inner_strides=None, inner_tiled=None)
--

The index space cut into equal tiles, whose order and whose inner order are chosen separately. One
buffer, rank 1 and above; tiles that reach over the edge are stored whole.

Parameters
----------
tile_shape : sequence of int, length n
    Extents of a tile in elements, each at least 1.
outer_layout : str, optional
    Order of the tiles: ``"row_major"``, ``"col_major"`` or ``"strided"``.
inner_layout : str, optional
    Order of the elements in a tile: the same, or ``"tiled"``.
outer_strides, inner_strides : sequence of int, length n, optional
    Strides for orders that are ``"strided"``, and only for those: the outer ones in whole tiles,
    the inner ones in elements.
inner_tiled : TiledLayout, optional
    How a tile is tiled in turn, exactly if `inner_layout` is ``"tiled"``; up to 8 levels.

Raises
------
ValueError
    If an order is none of these.
InvalidDescriptorError
    If `tile_shape` is empty or has a 0, strides or `inner_tiled` are missing, needless or of
    another length, an inner tile does not divide the outer one, or there are more than 8 levels.

Notes
-----
Format: section 5.3, "Tiled". Tag 0x04.

Examples
--------
>>> layout = hurray.TiledLayout([4, 4], inner_layout="col_major")
>>> layout.tile_shape, layout.outer_layout, layout.inner_layout
((4, 4), 'row_major', 'col_major')
>>> hurray.TiledLayout([8, 8], inner_layout="tiled", inner_tiled=layout).inner_tiled == layout
True
)";
  static constexpr std::array<Parameter<Kind>, 6> kParameters{{
      {"tile_shape",
       [](const ModuleState&, const Kind& kind) { return ToTuple(kind.record->tile_shape); },
       "tuple of int: extents of a tile, in elements."},
      {"outer_layout",
       [](const ModuleState&, const Kind& kind) {
         return ToPython(TileOrderName(kind.record->outer));
       },
       "str: order of the tiles."},
      {"inner_layout",
       [](const ModuleState&, const Kind& kind) {
         return ToPython(TileOrderName(kind.record->inner));
       },
       "str: order of the elements in a tile."},
      {"outer_strides",
       [](const ModuleState&, const Kind& kind) {
         return StridesToPython(kind.record->outer_strides);
       },
       "tuple of int or None: strides between tiles, in whole tiles."},
      {"inner_strides",
       [](const ModuleState&, const Kind& kind) {
         return StridesToPython(kind.record->inner_strides);
       },
       "tuple of int or None: strides within a tile, in elements."},
      {"inner_tiled",
       [](const ModuleState& state, const Kind& kind) {
         const auto& inner = kind.record->inner_tiled;
         return inner == nullptr ? Ref::None() : LayoutToPython(state, TiledLayout{{}, inner});
       },
       "TiledLayout or None: how a tile is tiled in turn."},
  }};
  static constexpr auto kNew = Signature("TiledLayout",
                                         {"tile_shape", "outer_layout", "inner_layout",
                                          "outer_strides", "inner_strides", "inner_tiled"},
                                         1);
  static Kind Make(const ModuleState& state, const std::array<PyObject*, 6>& arguments) {
    auto [tile_shape, outer, inner, outer_strides, inner_strides, inner_tiled] = arguments;
    TiledRecord record;
    record.tile_shape = ToNumbers<uint64_t>(tile_shape, "tile_shape");
    if (outer != nullptr) record.outer = ToChoice(outer, "outer_layout", TileOrderOf, kOrders);
    if (inner != nullptr) record.inner = ToChoice(inner, "inner_layout", TileOrderOf, kOrders);
    record.outer_strides = ToStrides(outer_strides, "outer_strides");
    record.inner_strides = ToStrides(inner_strides, "inner_strides");
    if (NoneToNull(inner_tiled) != nullptr) {
      if (Py_TYPE(inner_tiled) != AsType(state.layout_types[kAlternative<Kind, Layout>])) {
        ThrowTypeError(
            StrCat("inner_tiled must be a hurray.TiledLayout, not ", TypeName(inner_tiled)));
      }
      record.inner_tiled = KindOf<TiledClass>(inner_tiled).record;
    }
    return {{}, std::make_shared<const TiledRecord>(std::move(record))};
  }
  static std::string Text(const ModuleState&, const Kind& kind) {
    return RecordText(*kind.record, 1);
  }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<TiledLayout>, PyObject* module, PyObject* base) {
  return AddClass<TiledClass>(module, base, {});
}

}  // namespace hurray
