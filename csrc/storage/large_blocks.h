// Large blocks: mappings of their own at multiples of 2 MiB, of huge pages where the system has
// them, and used again and again (large_block_cache.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hurray {

// Of the common systems. Every large block begins where one begins.
inline constexpr size_t kHugePage = size_t{2} << 20;

// nullptr when there is no memory.
std::byte* AllocateLarge(size_t size, bool zeroed) noexcept;
void FreeLarge(std::byte* block) noexcept;

// A block that will soon have to be larger. nullptr when there is no memory.
std::byte* AllocateLargeToGrow(size_t size) noexcept;

// The block with another size, its contents moved along; nullptr when there is no memory, and
// then it is as before.
std::byte* ReallocateLarge(std::byte* block, size_t size) noexcept;

struct LargeBlockStats {
  size_t bytes_in_use;
  uint64_t hits, misses;
};
LargeBlockStats GetLargeBlockStats() noexcept;

}  // namespace hurray
