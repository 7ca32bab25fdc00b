#include "storage/allocator.h"

#include <pthread.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cstring>

#include "storage/large_block_cache.h"
#include "storage/large_blocks.h"
#include "storage/middle_blocks.h"
#include "storage/pages.h"
#include "storage/slabs.h"
#include "storage/thread_lists.h"

namespace hurray {

namespace {

constexpr size_t kMostAlignment = size_t{1} << 30;

// A child has only the thread that forked, so no lock may be held by another one.
[[maybe_unused]] const int fork_handlers = pthread_atfork(
    [] {
      LockThreadLists();
      LockSlabs();
      LockLargeBlocks();
    },
    [] {
      UnlockLargeBlocks();
      UnlockSlabs();
      UnlockThreadLists();
    },
    [] {
      UnlockLargeBlocks();
      UnlockSlabs();
      UnlockThreadLists();
    });

std::byte* AllocateNotSmall(size_t size, bool zeroed) noexcept {
  if (size >= kSmallestLarge) return AllocateLarge(size, zeroed);
  std::byte* block = AllocateMiddle(size, kBlockAlignment, zeroed);
  if (block == nullptr) {
    DropAllLargeBlocks();
    block = AllocateMiddle(size, kBlockAlignment, zeroed);
  }
  return block;
}

// Whether `size` bytes may stay in a block: it has them, and would not waste much.
bool Fits(const BlockHeader& header, size_t size) noexcept {
  if (size > header.capacity) return false;
  return size >= header.capacity / 2 || header.capacity <= 1024;
}

void* Move(std::byte* block, size_t size) noexcept {
  size_t capacity = HeaderOf(block)->capacity;
  UnpoisonMemory(block, capacity);
  bool grows = size > capacity && size >= kSmallestLarge;
  void* moved = grows ? AllocateLargeToGrow(size) : Allocate(size);
  if (moved == nullptr) return size <= capacity ? block : nullptr;
  std::memcpy(moved, block, std::min(capacity, size));
  Free(block);
  return moved;
}

}  // namespace

void* Allocate(size_t size) noexcept {
  if (size <= kLargestSmall) [[likely]] {
    std::byte* block = AllocateSmall(size);
    if (block != nullptr) [[likely]]
      return block;
  }
  return AllocateNotSmall(size, false);
}

void* AllocateZeroed(size_t size) noexcept {
  if (size <= kLargestSmall) [[likely]] {
    std::byte* block = AllocateSmall(size);
    if (block != nullptr) [[likely]]
      return std::memset(block, 0, size);
  }
  return AllocateNotSmall(size, true);
}

void* AllocateAt(size_t alignment, size_t size, bool zeroed) noexcept {
  size_t given = size >= kSmallestLarge ? kHugePage : kBlockAlignment;
  if (alignment <= given) return zeroed ? AllocateZeroed(size) : Allocate(size);
  return alignment <= kMostAlignment ? AllocateMiddle(size, alignment, zeroed) : nullptr;
}

void* Reallocate(void* memory, size_t size) noexcept {
  if (memory == nullptr) return Allocate(size);
  auto* block = static_cast<std::byte*>(memory);
  const BlockHeader& header = *HeaderOf(block);
  std::byte* moved = nullptr;
  switch (header.kind) {
    case BlockKind::kSmall:
      if (Fits(header, size)) {
        PoisonMemory(block, header.capacity);
        UnpoisonMemory(block, size);
        moved = block;
      }
      break;
    case BlockKind::kMiddle:
      if (size > kLargestSmall && size < kSmallestLarge) moved = ReallocateMiddle(block, size);
      break;
    case BlockKind::kLarge:
      if (size >= kSmallestLarge) return ReallocateLarge(block, size);
      break;
  }
  return moved != nullptr ? moved : Move(block, size);
}

void Free(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* block = static_cast<std::byte*>(memory);
  switch (HeaderOf(block)->kind) {
    case BlockKind::kSmall:
      FreeSmall(block);
      break;
    case BlockKind::kMiddle:
      FreeMiddle(block);
      break;
    case BlockKind::kLarge:
      FreeLarge(block);
      break;
  }
}

AllocatorStats GetAllocatorStats() noexcept {
  // One after another, while other threads go on: never exact, and never far off.
  ThreadTotals threads = GetThreadTotals();
  SlabStats slabs = GetSlabStats();
  LargeBlockStats large = GetLargeBlockStats();
  auto positive = [](int64_t value) { return static_cast<uint64_t>(std::max<int64_t>(value, 0)); };
  size_t small_in_use = slabs.bytes_out - std::min(threads.bytes_listed, slabs.bytes_out);
  return {
      .bytes_in_use = small_in_use + positive(threads.middle_in_use) + large.bytes_in_use,
      .bytes_cached = threads.bytes_listed + slabs.bytes_free + CachedLargeBytes(),
      .mappings = MappingCount(),
      .small = {positive(threads.small_hits), positive(threads.small_misses)},
      .middle = {0, positive(threads.middle_blocks)},
      .large = {large.hits, large.misses},
  };
}

void TrimAllocator() noexcept {
  TrimThreadLists();
  TrimSlabs();
  DropAllLargeBlocks();
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace hurray
