#include "storage/middle_blocks.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "storage/block_header.h"
#include "storage/memory_poison.h"
#include "storage/thread_lists.h"

namespace hurray {

namespace {

// Not aligned_alloc: it zeroes by hand, cannot be reallocated, and some versions of glibc never
// reuse what it leaves between blocks.
constexpr size_t kBeforeMiddle = sizeof(size_t) + kBeforeBlock;
constexpr size_t Surplus(size_t alignment) noexcept { return kBeforeMiddle + alignment; }

std::byte* PlaceIn(std::byte* allocation, size_t alignment) noexcept {
  uintptr_t start = reinterpret_cast<uintptr_t>(allocation);
  return allocation + (AlignUp(start + kBeforeMiddle, alignment) - start);
}

// What was asked for, which may be less than the block's capacity.
size_t& SizeOf(std::byte* block) noexcept {
  return *std::launder(reinterpret_cast<size_t*>(block - kBeforeMiddle));
}

void Describe(std::byte* block, std::byte* allocation, size_t total, size_t size) noexcept {
  new (block - kBeforeMiddle) size_t(size);
  WriteHeader(block, {.capacity = size,
                      .offset = static_cast<uint32_t>(block - allocation),
                      .kind = BlockKind::kMiddle,
                      .size_class = 0});
  PoisonMemory(block + size, static_cast<size_t>(allocation + total - (block + size)));
}

void CountInUse(size_t change) noexcept {
  Count(&AllocationCounts::middle_in_use, static_cast<int64_t>(change));
}

// Smaller ones come and go as fast within libc. The cache's share is what a few arrays of each size
// need; more of them are more than the processor's caches hold.
constexpr size_t kSmallestCached = size_t{64} << 10;
constexpr size_t kCacheShare = 8;

// Not what has a larger alignment: it takes more from libc than the cache would count.
bool IsCacheable(const BlockHeader& header) noexcept {
  return header.capacity >= kSmallestCached && header.offset < Surplus(kBlockAlignment);
}

// What has that size may stay in a block of this capacity, or take it from the cache.
size_t MostCapacity(size_t size) noexcept { return size + size / 4; }
// What grows does so again and again.
size_t MostCapacityToGrow(size_t size) noexcept { return MostCapacity(4 * size); }

std::byte* TakeCached(size_t size, size_t most) noexcept {
  if (size < kSmallestCached) return nullptr;
  CachedBlock* cached = middle_block_cache.Take(size, most);
  if (cached == nullptr) return nullptr;
  auto* block = reinterpret_cast<std::byte*>(cached);
  UnpoisonMemory(block, size);
  SizeOf(block) = size;
  Count(&AllocationCounts::middle_hits, 1);
  CountInUse(HeaderOf(block)->capacity);
  return block;
}

void Release(std::byte* block) noexcept { std::free(block - HeaderOf(block)->offset); }

}  // namespace

constinit BlockCache middle_block_cache(
    [](CachedBlock* cached) noexcept { Release(reinterpret_cast<std::byte*>(cached)); },
    kCacheShare);

std::byte* AllocateMiddle(size_t size, size_t alignment, bool zeroed) noexcept {
  if (size > PTRDIFF_MAX - Surplus(alignment)) return nullptr;
  if (alignment == kBlockAlignment) {
    if (std::byte* block = TakeCached(size, MostCapacity(size)); block != nullptr) {
      if (zeroed) std::memset(block, 0, size);
      return block;
    }
  }
  size_t total = size + Surplus(alignment);
  auto* allocation = static_cast<std::byte*>(zeroed ? std::calloc(total, 1) : std::malloc(total));
  if (allocation == nullptr) return nullptr;
  std::byte* block = PlaceIn(allocation, alignment);
  Describe(block, allocation, total, size);
  Count(&AllocationCounts::middle_misses, 1);
  CountInUse(size);
  return block;
}

void FreeMiddle(std::byte* block) noexcept {
  const BlockHeader& header = *HeaderOf(block);
  size_t capacity = header.capacity;
  CountInUse(size_t{0} - capacity);
  if (IsCacheable(header)) {
    UnpoisonMemory(block, sizeof(CachedBlock));
    auto* cached = new (block) CachedBlock{.capacity = capacity};
    PoisonMemory(block + sizeof(CachedBlock), capacity - sizeof(CachedBlock));
    middle_block_cache.Put(cached);
  } else {
    Release(block);
  }
}

std::byte* ReallocateMiddle(std::byte* block, size_t size) noexcept {
  constexpr size_t kSurplus = Surplus(kBlockAlignment);
  const BlockHeader old = *HeaderOf(block);
  size_t old_size = SizeOf(block);
  UnpoisonMemory(block, old.capacity);
  if (size <= old.capacity && (size > old_size || old.capacity <= MostCapacity(size))) {
    PoisonMemory(block + size, old.capacity - size);
    SizeOf(block) = size;
    return block;
  }
  if (size > old_size) {
    if (std::byte* larger = TakeCached(size, MostCapacityToGrow(size)); larger != nullptr) {
      std::memcpy(larger, block, old_size);
      FreeMiddle(block);
      return larger;
    }
  }
  if (size > PTRDIFF_MAX - kSurplus) return nullptr;
  size_t total = std::max<size_t>(size + kSurplus, size + old.offset);
  auto* allocation = static_cast<std::byte*>(std::realloc(block - old.offset, total));
  if (allocation == nullptr) return nullptr;
  std::byte* moved = PlaceIn(allocation, kBlockAlignment);
  if (moved != allocation + old.offset) {
    std::memmove(moved, allocation + old.offset, std::min(old_size, size));
  }
  Describe(moved, allocation, total, size);
  CountInUse(size - old.capacity);
  return moved;
}

}  // namespace hurray
