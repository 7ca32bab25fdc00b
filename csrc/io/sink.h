// Where bytes go: a file being replaced, a descriptor, or memory.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "io/checkpoint.h"
#include "io/file_descriptor.h"

namespace hurray {

// Takes bytes front to back. One thread at a time.
class Sink {
 public:
  virtual ~Sink() = default;
  // So many bytes are going to follow: room for them may be claimed at once.
  virtual void Reserve(uint64_t bytes, Checkpoint& checkpoint);
  // Takes every byte of the pieces, or throws (SystemError for what the system reports).
  virtual void Write(std::span<const iovec> pieces, Checkpoint& checkpoint) = 0;

 protected:
  Sink() = default;
  Sink(const Sink&) = default;
  Sink& operator=(const Sink&) = default;
};

class MemorySink : public Sink {
 public:
  void Reserve(uint64_t bytes, Checkpoint& checkpoint) override;
  void Write(std::span<const iovec> pieces, Checkpoint& checkpoint) override;
  std::span<const uint8_t> bytes() const noexcept { return bytes_; }
  // Forgets what was written after the first `size` bytes.
  void Truncate(size_t size) noexcept { bytes_.resize(std::min(size, bytes_.size())); }

 private:
  std::vector<uint8_t> bytes_;
};

// A descriptor, written from its present position on.
class DescriptorSink : public Sink {
 public:
  explicit DescriptorSink(FileDescriptor file) noexcept : file_(std::move(file)) {}
  void Reserve(uint64_t bytes, Checkpoint& checkpoint) override;
  void Write(std::span<const iovec> pieces, Checkpoint& checkpoint) override;
  FileDescriptor& file() noexcept { return file_; }

 private:
  FileDescriptor file_;
};

}  // namespace hurray
