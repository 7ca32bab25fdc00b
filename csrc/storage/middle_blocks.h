// Middle blocks: what libc allocates, moved to a boundary, and used again: libc gives the end of
// its heap back to the system too eagerly. Also for any alignment that the other regimes do not
// give.
#pragma once

#include <cstddef>

#include "storage/block_cache.h"

namespace hurray {

// nullptr when there is no memory. REQUIRES: alignment is a power of two, at least 64, at most
// 1 GiB.
std::byte* AllocateMiddle(size_t size, size_t alignment, bool zeroed) noexcept;
void FreeMiddle(std::byte* block) noexcept;

// The block with another size, at a multiple of 64; nullptr when there is no memory, and then it
// is as before.
std::byte* ReallocateMiddle(std::byte* block, size_t size) noexcept;

// Middle blocks that were freed.
extern BlockCache middle_block_cache;

}  // namespace hurray
