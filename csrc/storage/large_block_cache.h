// Large blocks that nobody uses, kept for those who come: a page that is there already costs a
// fraction of one that the system has to find and clear.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hurray {

// The first page of a large block's mapping begins with this.
struct LargeBlock {
  size_t capacity = 0;  // bytes from the block's address to the end of the mapping
  size_t size = 0;      // what was asked for
  // As AllocateLarge left it: zeroed, and pages come when they are touched.
  bool lazily_zeroed = false;
  // Nothing was seen in it when it was freed.
  bool seems_untouched = false;
  // ---- while it is in the cache
  int64_t freed_at = 0;            // seconds
  LargeBlock* previous = nullptr;  // freed later
  LargeBlock* next = nullptr;      // freed earlier
};

// Where its mapping starts, how long it is, and what its user has.
std::byte* AddressOf(LargeBlock* block) noexcept;
LargeBlock* LargeBlockAt(std::byte* address) noexcept;
void UnmapLargeBlock(LargeBlock* block) noexcept;

// The smallest block of at least `size` and at most `most` bytes; nullptr if there is none.
LargeBlock* TakeCachedLargeBlock(size_t size, size_t most) noexcept;

// Keeps a block, at the expense of the ones that were freed first, or gives it to the system if
// it is larger than the cache may be.
void CacheLargeBlock(LargeBlock* block) noexcept;

// Gives to the system what has not been used for some seconds, or all of it. There is no thread
// that would watch the time: whoever allocates calls this now and then.
void DropOldLargeBlocks() noexcept;
void DropAllLargeBlocks() noexcept;

size_t CachedLargeBytes() noexcept;

// Around fork().
void LockLargeBlocks() noexcept;
void UnlockLargeBlocks() noexcept;

}  // namespace hurray
