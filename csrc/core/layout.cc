#include "core/layout.h"

#include <array>
#include <type_traits>

namespace hurray {

namespace {

// Kinds with one fixed tag; the opaque ones stand for whole ranges.
template <typename L>
concept HasFixedTag = requires { L::kTag; };

struct Row {
  std::string_view name;
  Layout (*decode)(ByteReader& in, size_t rank);
};

// By tag; rows of tags that are not named have no name.
constexpr std::array<Row, 256> kRows = []<typename... L>(std::type_identity<std::variant<L...>>) {
  static_assert((LayoutKind<L> && ...), "a layout lacks a member that its row needs");
  static_assert((std::is_nothrow_move_constructible_v<L> && ...));
  std::array<Row, 256> rows{};
  auto add = [&rows]<typename Kind>(std::type_identity<Kind>) {
    if constexpr (HasFixedTag<Kind>) {
      rows[Kind::kTag] = {Kind::kName, [](ByteReader& in, size_t rank) -> Layout {
                            return Kind::Decode(in, rank);
                          }};
    }
  };
  (add(std::type_identity<L>{}), ...);
  return rows;
}(std::type_identity<Layout>{});

}  // namespace

std::string_view LayoutTagKind(uint8_t tag) noexcept {
  if (tag == 0x00 || tag == 0xFF) return "invalid";
  if (IsPrivateTag(tag)) return "private";
  return kRows[tag].name.empty() ? "reserved" : "named";
}

std::optional<std::string_view> NamedLayoutName(uint8_t tag) noexcept {
  if (kRows[tag].name.empty()) return std::nullopt;
  return kRows[tag].name;
}

Layout DecodeLayout(ByteReader& in, uint8_t tag, size_t rank) {
  if (kRows[tag].decode != nullptr) return kRows[tag].decode(in, rank);
  if (IsPrivateTag(tag)) return PrivateExtensionLayout::Decode(in, tag);
  ThrowInvalidDescriptor(StrCat("layout_tag is ", HexByte(tag), ", which is ", LayoutTagKind(tag),
                                LayoutTagKind(tag) == "reserved"
                                    ? ": a newer version of the format may define it; "
                                      "permissive=True keeps such a tensor as it is"
                                    : ""));
}

uint8_t LayoutTag(const Layout& layout) noexcept {
  return std::visit([](const auto& kind) { return kind.tag(); }, layout);
}

std::string_view LayoutName(const Layout& layout) noexcept {
  return std::visit([]<typename Kind>(const Kind&) { return Kind::kName; }, layout);
}

bool IsDense(const Layout& layout) noexcept {
  return std::visit([]<typename Kind>(const Kind&) { return Kind::kIsDense; }, layout);
}

bool HasByteOffset(const Layout& layout) noexcept {
  return std::visit([]<typename Kind>(const Kind&) { return Kind::kHasByteOffset; }, layout);
}

bool AllowsShard(const Layout& layout) noexcept {
  return std::visit([]<typename Kind>(const Kind&) { return Kind::kAllowsShard; }, layout);
}

size_t LayoutEncodedSize(const Layout& layout) noexcept {
  return std::visit([](const auto& kind) { return kind.encoded_size(); }, layout);
}

void EncodeLayout(const Layout& layout, ByteWriter& out) noexcept {
  std::visit([&](const auto& kind) { kind.Encode(out); }, layout);
}

void CheckLayoutShape(const Layout& layout, ShapeView shape) {
  std::visit([&](const auto& kind) { kind.CheckShape(shape); }, layout);
}

std::optional<size_t> LayoutBufferCount(const Layout& layout) noexcept {
  return std::visit([](const auto& kind) { return kind.buffer_count(); }, layout);
}

std::string LayoutBufferRole(const Layout& layout, size_t index) {
  return std::visit([&](const auto& kind) { return std::string(kind.BufferRole(index)); }, layout);
}

MinimumSize LayoutMinimumSize(const Layout& layout, size_t index, const Geometry& geometry) {
  return std::visit([&](const auto& kind) { return kind.MinimumSizeOf(index, geometry); }, layout);
}

}  // namespace hurray
