// The closed set of layouts and the table of what each one is. Format: section 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "core/layouts/block_paged.h"
#include "core/layouts/col_major.h"
#include "core/layouts/composite_head.h"
#include "core/layouts/compressed.h"
#include "core/layouts/coo.h"
#include "core/layouts/csf.h"
#include "core/layouts/hilbert.h"
#include "core/layouts/layout_kind.h"
#include "core/layouts/morton.h"
#include "core/layouts/opaque.h"
#include "core/layouts/row_major.h"
#include "core/layouts/strided.h"
#include "core/layouts/tiled.h"

namespace hurray {

// One alternative per layout: this list is the table. Moving never throws.
using Layout =
    std::variant<RowMajorLayout, ColMajorLayout, StridedLayout, TiledLayout, MortonLayout,
                 HilbertLayout, CooLayout, CsrLayout, CscLayout, CsfLayout, BlockPagedLayout,
                 CompositeHeadLayout, PrivateExtensionLayout, UnknownLayout>;

// The category of a layout tag: "named", "reserved", "private" or "invalid".
std::string_view LayoutTagKind(uint8_t tag) noexcept;
// The name of a named tag's layout; nullopt for all other tags.
std::optional<std::string_view> NamedLayoutName(uint8_t tag) noexcept;

// Reads the payload of `tag`. Throws kInvalidDescriptor for a tag that is not named or private.
Layout DecodeLayout(ByteReader& in, uint8_t tag, size_t rank);

// The members of LayoutKind, for whichever layout it is.
uint8_t LayoutTag(const Layout& layout) noexcept;
std::string_view LayoutName(const Layout& layout) noexcept;
bool IsDense(const Layout& layout) noexcept;
bool HasByteOffset(const Layout& layout) noexcept;
bool AllowsShard(const Layout& layout) noexcept;
inline bool IsVirtual(const Layout& layout) noexcept {
  return std::holds_alternative<CompositeHeadLayout>(layout);
}
// Row-major, column-major or strided: elements that strides can reach.
inline bool HasStrides(const Layout& layout) noexcept {
  return std::holds_alternative<RowMajorLayout>(layout) ||
         std::holds_alternative<ColMajorLayout>(layout) ||
         std::holds_alternative<StridedLayout>(layout);
}
size_t LayoutEncodedSize(const Layout& layout) noexcept;
void EncodeLayout(const Layout& layout, ByteWriter& out) noexcept;
void CheckLayoutShape(const Layout& layout, ShapeView shape);
std::optional<size_t> LayoutBufferCount(const Layout& layout) noexcept;
std::string LayoutBufferRole(const Layout& layout, size_t index);
MinimumSize LayoutMinimumSize(const Layout& layout, size_t index, const Geometry& geometry);

}  // namespace hurray
