// Memory for buffers, on boundaries of 64 bytes or more.
#pragma once

#include <cstddef>

#include "storage/block_header.h"

namespace hurray {

// `size` bytes at a multiple of `alignment` (a power of two, at least 64), zeroed on request
// without touching pages that the system hands out zeroed; nullptr when there is no memory.
// The kBlockPrefix bytes before the address belong to the block too and are free for the caller's
// use.
void* AllocateAligned(size_t size, size_t alignment, bool zeroed) noexcept;
void FreeAligned(void* memory) noexcept;

// The alignment that AllocateAligned gives a block of this size when 64 is asked for.
size_t GuaranteedAlignment(size_t size) noexcept;

}  // namespace hurray
