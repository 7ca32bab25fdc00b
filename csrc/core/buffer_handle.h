// One row of a descriptor's buffer table. Format: section 4.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/byte_reader.h"
#include "core/byte_writer.h"
#include "core/device.h"

namespace hurray {

inline constexpr uint32_t kMinBufferAlignment = 64;  // bytes; of every buffer that is not empty
inline constexpr uint32_t kPageAlignment = 4096;     // bytes
inline constexpr size_t kMaxBuffers = 255;

// Whether the bytes may be touched at once, or only after an event or on a stream.
enum class SyncMode : uint8_t { kProducerSynced = 0, kEvent = 1, kConsumerStream = 2 };
std::string_view SyncModeName(SyncMode mode) noexcept;

struct BufferHandle {
  static constexpr size_t kEncodedSize = 16;

  uint64_t byte_size = 0;
  uint32_t alignment = 1;  // bytes, a power of two; what the producer guarantees
  Device device;
  SyncMode sync_mode = SyncMode::kProducerSynced;

  // A handle for `byte_size` bytes here, with the alignment that is declared for memory whose
  // address does not matter: 64, or 1 for no bytes.
  static BufferHandle Of(uint64_t byte_size, Device device) noexcept {
    return {byte_size, byte_size == 0 ? 1 : kMinBufferAlignment, device, SyncMode::kProducerSynced};
  }
  // Throws kInvalidDescriptor for a row that breaks a rule; `index` is for the message. In place: a
  // value returned would be put together in a register, byte by byte.
  void DecodeFrom(ByteReader& in, size_t index);
  void Encode(ByteWriter& out) const noexcept;

  friend bool operator==(const BufferHandle&, const BufferHandle&) noexcept = default;
};

}  // namespace hurray
