// What every layout tells about itself: its row in the table of layouts. Format: section 5.
//
// A layout is a plain struct in a file of its own beside this one. Writing one means giving it
// the members that the concept below lists, and adding it to the list in core/layout.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/byte_reader.h"
#include "core/byte_writer.h"
#include "core/error.h"
#include "core/minimum_size.h"
#include "core/packing.h"
#include "core/shape.h"
#include "core/str_cat.h"

namespace hurray {

// What sizes and addresses depend on beside the layout.
struct Geometry {
  ShapeView shape;
  Packing packing;
  uint64_t byte_offset = 0;  // of the first element in buffer 0
};

// The contents of a tensor's buffers in table order. Their lengths are real, not claimed.
using BufferSpans = std::span<const std::span<const uint8_t>>;

template <typename L>
concept LayoutKind =
    requires(const L layout, ByteReader& in, ByteWriter& out, ShapeView shape, IndexView index,
             size_t i, const Geometry& geometry, BufferSpans buffers) {
      // ---- facts of the kind
      { L::kName } -> std::convertible_to<std::string_view>;
      // One buffer, every element stored, addressable by arithmetic alone.
      { L::kIsDense } -> std::convertible_to<bool>;
      // byte_offset may be other than 0.
      { L::kHasByteOffset } -> std::convertible_to<bool>;
      // The shard section is allowed.
      { L::kAllowsShard } -> std::convertible_to<bool>;

      // ---- the payload on the wire
      { layout.tag() } -> std::same_as<uint8_t>;
      { layout.encoded_size() } -> std::same_as<size_t>;
      { layout.Encode(out) };

      // Throws kInvalidDescriptor, with the layout's name in the message, if the layout cannot
      // describe that shape. Dynamic extents are skipped where a size would be needed.
      { layout.CheckShape(shape) };

      // ---- buffers
      // Those the layout itself needs; nullopt where nobody can tell.
      { layout.buffer_count() } -> std::same_as<std::optional<size_t>>;
      // REQUIRES: i < *buffer_count().
      { layout.BufferRole(i) } -> std::convertible_to<std::string_view>;
      // Least size of buffer i, from its start, in bytes. REQUIRES: CheckShape passed.
      { layout.MinimumSizeOf(i, geometry) } -> std::same_as<MinimumSize>;

      // ---- elements
      // The linear element offset in buffer 0 of a logical index; nullopt for a coordinate that
      // is not stored. Throws kUnsupported if the layout defines none, kInvalidDescriptor if an
      // index buffer that it walks is inconsistent.
      // REQUIRES: the descriptor was checked, no dynamic extent, index inside the shape.
      { layout.ElementOffset(shape, index, buffers) } -> std::same_as<std::optional<int64_t>>;
      // Checks what only the contents of the buffers can tell (level D); throws
      // kInvalidDescriptor naming buffer, position, value and rule.
      { layout.CheckContents(geometry, buffers) };

      { layout == layout } -> std::convertible_to<bool>;
    };

// Defaults of layouts with one buffer, `data`, whose contents cannot be wrong.
struct DenseLayoutBase {
  static constexpr bool kIsDense = true;
  static constexpr bool kHasByteOffset = true;
  static constexpr bool kAllowsShard = true;
  static std::optional<size_t> buffer_count() noexcept { return 1; }
  static std::string_view BufferRole(size_t) noexcept { return "data"; }
  static void CheckContents(const Geometry&, BufferSpans) noexcept {}
  friend bool operator==(const DenseLayoutBase&, const DenseLayoutBase&) noexcept = default;
};

// byte_offset + the packed size of `element_count` elements, or byte_offset alone for none.
inline MinimumSize DenseMinimum(const Geometry& geometry, std::optional<uint64_t> element_count) {
  if (element_count == uint64_t{0}) return MinimumSize::Bytes(geometry.byte_offset);
  if (!element_count) return MinimumSize::Hopeless("its element count exceeds 64 bits");
  return MinimumSize::FromChecked(
      CheckedAdd(geometry.packing.SizeBytes(*element_count), geometry.byte_offset));
}

// Least size when linear element offsets run from `low` to `high`, which may be negative.
MinimumSize SpanMinimum(const Geometry& geometry, __int128 low, __int128 high);

// Throws kInvalidDescriptor unless the rank is at least `least` ("exactly" if `exact`).
void CheckRank(std::string_view layout, ShapeView shape, size_t least, bool exact = false);

}  // namespace hurray
