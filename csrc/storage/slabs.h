// Where small blocks come from and go back to: slabs, each carved into blocks of one class, shared
// by all threads behind one lock. Threads come here for many blocks at a time (thread_lists.h).
#pragma once

#include <cstddef>
#include <new>

#include "storage/block_header.h"

namespace hurray {

// A free block keeps the next one of its list in its prefix.
inline std::byte*& NextFree(std::byte* block) noexcept {
  return *std::launder(reinterpret_cast<std::byte**>(block - kBlockPrefix));
}

// Up to `count` free blocks of a class as a list; nullptr when there is no memory.
std::byte* TakeFromSlabs(size_t size_class, size_t count) noexcept;

// Takes back a list of small blocks, of whatever class and made by whatever thread.
void GiveToSlabs(std::byte* list) noexcept;

// Gives the memory of slabs without a block in use back to the system.
void TrimSlabs() noexcept;

struct SlabStats {
  size_t bytes_out;   // in blocks that threads have, strides included
  size_t bytes_free;  // carved and free, or in slabs without a block in use
};
SlabStats GetSlabStats() noexcept;

// Around fork().
void LockSlabs() noexcept;
void UnlockSlabs() noexcept;

}  // namespace hurray
