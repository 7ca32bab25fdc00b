// Memory at multiples of 64 bytes, for our tensors and, through a handler, for NumPy's arrays.
//
// Three regimes: small blocks come from lists of each thread (thread_lists.h), middle ones from
// libc (middle_blocks.h), large ones are mappings of huge pages (large_blocks.h). Any block may be
// freed and reallocated on any thread, until the very end of the process and in the children it
// forks. Nothing here throws, or knows the GIL.
#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/block_header.h"

namespace hurray {

inline constexpr size_t kSmallestLarge = size_t{4} << 20;
inline constexpr size_t kLargeBlockAlignment = 4096;

// `size` bytes, 0 included, at a multiple of 64, and of 4096 from kSmallestLarge on; nullptr when
// there is no memory. The kBlockPrefix bytes before the address are free for the caller's use.
void* Allocate(size_t size) noexcept;
// The same, and all zero.
void* AllocateZeroed(size_t size) noexcept;
// The same, at a multiple of `alignment`, which is a power of two. nullptr above 1 GiB.
void* AllocateAt(size_t alignment, size_t size, bool zeroed) noexcept;

// The block with another size, aligned as Allocate does it; its contents move along, what is
// before its address does not. nullptr when there is no memory: then the block is as before.
// A new block for nullptr.
void* Reallocate(void* block, size_t size) noexcept;

void Free(void* block) noexcept;  // or nullptr

struct AllocatorStats {
  struct Regime {
    uint64_t hits;    // allocations served from memory that had been kept
    uint64_t misses;  // all others
  };
  size_t bytes_in_use;
  size_t bytes_cached;
  size_t mappings;
  Regime small, middle, large;
};
AllocatorStats GetAllocatorStats() noexcept;

// Gives back to the system what is kept for later. The lists of other threads follow when those
// free something.
void TrimAllocator() noexcept;

}  // namespace hurray
