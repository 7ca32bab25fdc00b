// Buffers that another module described in the structs of hurray.h.
#pragma once

#include <hurray/hurray.h>

#include <span>

#include "python/module_state.h"
#include "python/ref.h"
#include "storage/buffer.h"

namespace hurray {

// Keeps foreign memory alive by a counted hold; `release(owner)` runs once, when the last buffer
// over it goes, on whatever thread that is. `release` may be null.
class ForeignHold {
 public:
  // Throws std::bad_alloc after calling `release`.
  ForeignHold(void* owner, void (*release)(void* owner));
  ForeignHold(const ForeignHold&) = delete;
  ForeignHold& operator=(const ForeignHold&) = delete;
  ~ForeignHold();  // drops the hold that this object stands for

  // A buffer with a hold of its own.
  Buffer MakeBuffer(void* data, size_t size, bool writable) const noexcept;

 private:
  void* counted_;
};

// Decodes the descriptor, checks that the buffers are what it declares, and builds the tensor.
// `step` is the distance between two buffers in bytes.
Ref TensorFromForeign(ModuleState& state, std::span<const uint8_t> descriptor,
                      const HurrayBuffer* buffers, size_t count, size_t step,
                      const ForeignHold& hold);

}  // namespace hurray
