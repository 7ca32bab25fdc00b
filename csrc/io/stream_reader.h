// Reads tensors from a stream. Format: section 9.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/descriptor.h"
#include "io/byte_stream.h"
#include "io/checkpoint.h"
#include "io/item.h"

namespace hurray {

struct StreamLimits {
  uint64_t max_descriptor_bytes = uint64_t{16} << 20;
  uint64_t max_buffer_bytes = UINT64_MAX;  // of each buffer alone
  uint64_t max_composite_depth = 64;       // the format's own limit applies besides
  bool cross_machine = false;              // refuse what another machine could not wait for
  Mode mode = Mode::kStrict;
};

// Memory is taken as bytes arrive: a length that nothing follows costs next to nothing.
// One thread at a time.
class StreamReader {
 public:
  StreamReader(std::unique_ptr<ByteStream> stream, const StreamLimits& limits)
      : stream_(std::move(stream)), limits_(limits) {}

  // The next tensor, or composite with all its members; nullopt at the end. Throws kStream for
  // the framing, an exceeded limit or a torn input, kInvalidDescriptor for what a descriptor or
  // composite says, SystemError for the system. Whatever it throws, the reader is then at its end.
  std::optional<Item> Next(Checkpoint& checkpoint);

  // Lets go of the stream; from then on the reader is at its end.
  void Close() noexcept { stream_.reset(); }

 private:
  std::optional<Item> Read(Checkpoint& checkpoint);
  // nullopt if the stream ends before it.
  std::optional<TensorDescriptor> ReadDescriptor(Checkpoint& checkpoint);
  Item ReadComposite(TensorDescriptor head, Checkpoint& checkpoint);
  void CheckDepth(uint64_t depth) const;
  TensorData ReadTensor(TensorDescriptor descriptor, Checkpoint& checkpoint);
  Buffer ReadBuffer(const BufferHandle& handle, size_t index, Checkpoint& checkpoint);
  // Throws kStream if the stream ends inside `out`, of which `before` bytes of `total` came
  // before.
  void Fill(std::span<uint8_t> out, uint64_t before, uint64_t total, const char* what,
            Checkpoint& checkpoint);
  // How much memory a length may claim at once: what is surely there, or was there before.
  uint64_t Trusted() const;

  std::unique_ptr<ByteStream> stream_;
  StreamLimits limits_;
  uint64_t received_ = 0;  // bytes of buffers so far
};

}  // namespace hurray
