// Where a file's bytes come from: a mapping, a descriptor to read from, or memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "io/checkpoint.h"
#include "io/file_descriptor.h"
#include "storage/buffer.h"

namespace hurray {

// Memory is aligned up to this, whatever a buffer handle declares.
inline constexpr size_t kMostAlignment = size_t{2} << 20;

// Threads may share one.
class Source {
 public:
  virtual ~Source() = default;

  uint64_t size() const noexcept { return size_; }
  // What messages call it.
  const std::string& name() const noexcept { return name_; }

  // Fills `out` from byte `offset` on. REQUIRES: offset + out.size() <= size().
  virtual void ReadAt(uint64_t offset, std::span<uint8_t> out, Checkpoint& checkpoint) const = 0;
  // `size` bytes from `offset` on, shared where they lie in memory at a multiple of `alignment`
  // (a power of two up to kMostAlignment), else read or copied to where they do.
  // REQUIRES: offset + size <= size().
  virtual Buffer BufferAt(uint64_t offset, size_t size, size_t alignment,
                          Checkpoint& checkpoint) const = 0;
  // The file places its buffers at multiples of `alignment`, and what ReadAt is asked for lies
  // `spacing` bytes apart on average. REQUIRES: nothing else was called but ReadAt.
  virtual void Expect(size_t alignment, uint64_t spacing);

 protected:
  Source(uint64_t size, std::string name) noexcept : size_(size), name_(std::move(name)) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

 private:
  uint64_t size_;
  std::string name_;
};

enum class FileAccess : uint8_t {
  kMap,   // buffers lie in a private mapping: nothing is read before it is touched
  kRead,  // buffers are read into memory of their own
};

// Throws SystemError where the file cannot be opened, kFile for what is no regular file.
std::unique_ptr<Source> OpenSource(const std::string& path, FileAccess access,
                                   Checkpoint& checkpoint);
std::unique_ptr<Source> MemorySource(Buffer bytes);

}  // namespace hurray
