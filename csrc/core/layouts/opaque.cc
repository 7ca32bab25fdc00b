#include "core/layouts/opaque.h"

namespace hurray {

namespace {

[[noreturn]] void ThrowNoAddress(uint8_t tag) {
  throw Error(ErrorCode::kUnsupported,
              StrCat("layout extension (tag ", HexByte(tag), ") defines no element offsets here"));
}

}  // namespace

PrivateExtensionLayout PrivateExtensionLayout::Decode(ByteReader& in, uint8_t tag) {
  uint64_t id = in.ReadU64("extension_layout_id");
  uint32_t length = in.ReadU32("extension_data length");
  auto data = in.ReadBytes(length, "extension_data");
  return {{}, tag, id, {data.begin(), data.end()}};
}

void PrivateExtensionLayout::Encode(ByteWriter& out) const noexcept {
  out.WriteU64(extension_layout_id);
  out.WriteU32(static_cast<uint32_t>(extension_data.size()));
  out.WriteBytes(extension_data);
}

std::optional<int64_t> PrivateExtensionLayout::ElementOffset(ShapeView, IndexView,
                                                             BufferSpans) const {
  ThrowNoAddress(tag_byte);
}

std::optional<int64_t> UnknownLayout::ElementOffset(ShapeView, IndexView, BufferSpans) const {
  ThrowNoAddress(tag_byte);
}

}  // namespace hurray
