// Where a stream's bytes come from: a descriptor or memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "io/checkpoint.h"
#include "io/file_descriptor.h"
#include "storage/buffer.h"

namespace hurray {

// Gives bytes front to back. One thread at a time.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Fills `out` from its front and tells how much came: less only at the end.
  virtual size_t Read(std::span<uint8_t> out, Checkpoint& checkpoint) = 0;
  // How many bytes are left, where that is known without reading them.
  virtual std::optional<uint64_t> Remaining() const = 0;

 protected:
  ByteStream() = default;
  ByteStream(const ByteStream&) = default;
  ByteStream& operator=(const ByteStream&) = default;
};

class MemoryStream : public ByteStream {
 public:
  explicit MemoryStream(Buffer bytes) noexcept : bytes_(std::move(bytes)) {}
  size_t Read(std::span<uint8_t> out, Checkpoint& checkpoint) override;
  std::optional<uint64_t> Remaining() const override { return bytes_.size() - position_; }

 private:
  Buffer bytes_;
  size_t position_ = 0;
};

// Reads from the descriptor's present position on, and not a byte more than it is asked for.
class DescriptorStream : public ByteStream {
 public:
  explicit DescriptorStream(FileDescriptor file);
  size_t Read(std::span<uint8_t> out, Checkpoint& checkpoint) override;
  std::optional<uint64_t> Remaining() const override;

 private:
  FileDescriptor file_;
  bool is_regular_;
};

}  // namespace hurray
