// Large blocks: mappings of their own at multiples of 2 MiB, of huge pages where the system has
// them, and used again and again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/block_cache.h"

namespace hurray {

// Of the common systems. Every large block begins where one begins.
inline constexpr size_t kHugePage = size_t{2} << 20;

// nullptr when there is no memory.
std::byte* AllocateLarge(size_t size, bool zeroed) noexcept;
void FreeLarge(std::byte* block) noexcept;

// A block that will soon have to be larger. nullptr when there is no memory.
std::byte* AllocateLargeToGrow(size_t size) noexcept;
// The same, but only if a block is kept that suits; `size` may be less than large.
std::byte* TakeLargeToGrow(size_t size) noexcept;

// What was asked for.
size_t SizeOfLarge(std::byte* block) noexcept;

// The block with another size, its contents moved along; nullptr when there is no memory, and
// then it is as before. REQUIRES: size is large, or at least SizeOfLarge(block).
std::byte* ReallocateLarge(std::byte* block, size_t size) noexcept;

// Large blocks that were freed.
extern BlockCache large_block_cache;

struct LargeBlockStats {
  size_t bytes_in_use;
  uint64_t hits, misses;
};
LargeBlockStats GetLargeBlockStats() noexcept;

}  // namespace hurray
