// A descriptor put together field by field, with no rule checked: for bytes that no encoder of ours
// would write.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/byte_writer.h"

namespace hurray {

struct WireHandle {
  uint64_t byte_size = 0;
  uint32_t alignment = 64;
  uint8_t device_tag = 0;
  uint8_t sync_mode = 0;
  uint8_t memory_class = 0;
  uint8_t reserved = 0;
};

struct WireDescriptor {
  std::string_view magic = "HRRY";
  uint8_t version_major = 1;
  uint8_t version_minor = 0;
  std::optional<uint32_t> length;  // the true one unless given
  uint32_t flags = 0;
  uint8_t type_tag = 0x11;    // uint8
  uint8_t layout_tag = 0x01;  // row-major
  std::optional<uint32_t> rank;
  std::vector<uint64_t> shape;
  uint64_t byte_offset = 0;
  std::vector<uint8_t> payload;
  std::optional<uint8_t> buffer_count;
  std::vector<WireHandle> handles;
  std::vector<uint8_t> sections;  // all of them, and whatever follows

  void AddSection(uint32_t flag, std::span<const uint8_t> bytes) {
    flags |= flag;
    sections.insert(sections.end(), bytes.begin(), bytes.end());
  }

  std::vector<uint8_t> Encode() const {
    size_t size =
        20 + 8 * shape.size() + 8 + payload.size() + 1 + 16 * handles.size() + sections.size();
    std::vector<uint8_t> bytes(size);
    ByteWriter out(bytes);
    for (char c : magic) out.WriteU8(static_cast<uint8_t>(c));
    out.WriteU8(version_major);
    out.WriteU8(version_minor);
    out.WriteU32(length.value_or(static_cast<uint32_t>(size)));
    out.WriteU32(flags);
    out.WriteU8(type_tag);
    out.WriteU8(layout_tag);
    out.WriteU32(rank.value_or(static_cast<uint32_t>(shape.size())));
    for (uint64_t extent : shape) out.WriteU64(extent);
    out.WriteU64(byte_offset);
    out.WriteBytes(payload);
    out.WriteU8(buffer_count.value_or(static_cast<uint8_t>(handles.size())));
    for (const WireHandle& handle : handles) {
      out.WriteU64(handle.byte_size);
      out.WriteU32(handle.alignment);
      out.WriteU8(handle.device_tag);
      out.WriteU8(handle.sync_mode);
      out.WriteU8(handle.memory_class);
      out.WriteU8(handle.reserved);
    }
    out.WriteBytes(sections);
    return bytes;
  }
};

}  // namespace hurray
