// Writes tensors as a stream. Format: section 9.
#pragma once

#include <memory>

#include "io/checkpoint.h"
#include "io/item.h"
#include "io/sink.h"

namespace hurray {

// One thread at a time.
class StreamWriter {
 public:
  // With `cross_machine`, refuses what another machine could not wait for.
  StreamWriter(std::unique_ptr<Sink> sink, bool cross_machine)
      : sink_(std::move(sink)), cross_machine_(cross_machine) {}

  // Writes a tensor, or a composite with all its members, after checking all of it. Throws
  // kInvalidDescriptor, kBuffer or kStream before the first byte, SystemError later.
  void Write(const Item& item, Checkpoint& checkpoint);

  Sink& sink() noexcept { return *sink_; }

 private:
  std::unique_ptr<Sink> sink_;
  bool cross_machine_;
};

// Throws kStream if a buffer is not synced, so that a machine elsewhere could not read it.
void CheckCrossMachine(const TensorDescriptor& descriptor);

}  // namespace hurray
