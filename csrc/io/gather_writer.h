// Collects what is to be written until it is worth a system call.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/checkpoint.h"
#include "io/sink.h"

namespace hurray {

// Large pieces are written from where they lie; small ones are gathered in memory of a fixed
// size. What was added reaches the sink at the latest when Flush() returns.
class GatherWriter {
 public:
  GatherWriter(Sink& sink, Checkpoint& checkpoint);

  uint64_t position() const noexcept { return position_; }  // bytes since the start

  // `bytes` must stay as they are until the next Flush().
  void Write(std::span<const uint8_t> bytes);
  void WriteZeros(uint64_t count);
  // `size` bytes of memory to fill before the next call. REQUIRES: size <= kMostScratch.
  std::span<uint8_t> Scratch(size_t size);
  void Flush();

  static constexpr size_t kMostScratch = size_t{64} << 10;

 private:
  bool IsFull() const noexcept;
  // Joins it with the piece before, where it follows that in memory.
  void Add(const uint8_t* start, size_t size);

  Sink& sink_;
  Checkpoint& checkpoint_;
  std::unique_ptr<uint8_t[]> scratch_;
  size_t scratch_used_ = 0;
  std::vector<iovec> pieces_;
  uint64_t pending_ = 0;  // bytes in pieces_
  uint64_t position_ = 0;
};

}  // namespace hurray
