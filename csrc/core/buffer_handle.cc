#include "core/buffer_handle.h"

#include "core/checked_math.h"
#include "core/str_cat.h"

namespace hurray {

std::string_view SyncModeName(SyncMode mode) noexcept {
  switch (mode) {
    case SyncMode::kProducerSynced:
      return "producer_synced";
    case SyncMode::kEvent:
      return "event";
    case SyncMode::kConsumerStream:
      return "consumer_stream";
  }
  return "";  // unreachable: a mode is checked before it becomes one
}

void BufferHandle::DecodeFrom(ByteReader& in, size_t index) {
  auto piece = in.ReadBytes(kEncodedSize, "buffer handle");
  byte_size = ByteReader::Load<uint64_t>(piece.data());
  alignment = ByteReader::Load<uint32_t>(piece.data() + 8);
  uint8_t tag = piece[12], sync = piece[13], memory_class = piece[14], reserved = piece[15];
  if (!IsPowerOfTwo(alignment)) {
    ThrowInvalidDescriptor(
        StrCat("buffer ", index, ": alignment is ", alignment, ", it must be a power of two"));
  }
  if (byte_size > 0 && alignment < kMinBufferAlignment) {
    ThrowInvalidDescriptor(StrCat("buffer ", index, ": alignment is ", alignment, ", at least ",
                                  kMinBufferAlignment,
                                  " is needed for a buffer that is not empty"));
  }
  if (!IsDeviceKindTag(tag)) {
    ThrowInvalidDescriptor(
        StrCat("buffer ", index, ": device_tag is ", HexByte(tag), ", which names no device kind"));
  }
  if (sync > static_cast<uint8_t>(SyncMode::kConsumerStream)) {
    ThrowInvalidDescriptor(
        StrCat("buffer ", index, ": sync_mode is ", sync, ", it must be 0, 1 or 2"));
  }
  if (sync != 0 && tag == kCpuTag) {
    ThrowInvalidDescriptor(
        StrCat("buffer ", index, ": sync_mode is ", sync, ", it must be 0 on the CPU"));
  }
  if (!IsMemoryClassTag(memory_class)) {
    ThrowInvalidDescriptor(StrCat("buffer ", index, ": memory_class is ", HexByte(memory_class),
                                  ", which names no memory class"));
  }
  if (reserved != 0) {
    ThrowInvalidDescriptor(
        StrCat("buffer ", index, ": the reserved byte is ", HexByte(reserved), ", it must be 0"));
  }
  device.tag = tag;
  device.memory_class = memory_class;
  sync_mode = static_cast<SyncMode>(sync);
  if (memory_class != kStandardMemory) CheckMemoryClassAllowed(device);
}

void BufferHandle::Encode(ByteWriter& out) const noexcept {
  out.WriteU64(byte_size);
  out.WriteU32(alignment);
  out.WriteU8(device.tag);
  out.WriteU8(static_cast<uint8_t>(sync_mode));
  out.WriteU8(device.memory_class);
  out.WriteU8(0);
}

}  // namespace hurray
