#include "storage/allocator.h"

#include <pthread.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstring>

#include "storage/large_blocks.h"
#include "storage/middle_blocks.h"
#include "storage/pages.h"
#include "storage/slabs.h"
#include "storage/thread_lists.h"

namespace hurray {

namespace {

constexpr size_t kMostAlignment = size_t{1} << 30;
// From that size on, what grows may take a large block that is kept.
constexpr size_t kSmallestToGrow = size_t{256} << 10;

std::atomic<unsigned> ticks{0};

void UnlockAll() noexcept {
  large_block_cache.Unlock();
  middle_block_cache.Unlock();
  UnlockSlabs();
  UnlockThreadLists();
}

// A child has only the thread that forked, so no lock may be held by another one.
[[maybe_unused]] const int fork_handlers = pthread_atfork(
    [] {
      LockThreadLists();
      LockSlabs();
      middle_block_cache.Lock();
      large_block_cache.Lock();
    },
    UnlockAll, UnlockAll);

// What no list of this thread has. Not within its callers: they are short and often called.
[[gnu::noinline]] void* AllocateSlowly(size_t size, bool zeroed) noexcept {
  if (size <= kLargestSmall) {
    std::byte* block = FetchSmall(size);
    if (block != nullptr) return zeroed ? std::memset(block, 0, size) : block;
  }
  // A look at the clock now and then. That several threads count together does not matter.
  AddTo(ticks, 1u);
  if (ticks.load(std::memory_order_relaxed) % 64 == 0) {
    middle_block_cache.DropOld();
    large_block_cache.DropOld();
  }
  if (size >= kSmallestLarge) return AllocateLarge(size, zeroed);
  std::byte* block = AllocateMiddle(size, kBlockAlignment, zeroed);
  if (block == nullptr) {
    middle_block_cache.DropAll();
    large_block_cache.DropAll();
    block = AllocateMiddle(size, kBlockAlignment, zeroed);
  }
  return block;
}

// Whether `size` bytes may stay in a block: it has them, and would not waste much.
bool Fits(const BlockHeader& header, size_t size) noexcept {
  if (size > header.capacity) return false;
  return size >= header.capacity / 2 || header.capacity <= 1024;
}

// A new place for what is in a block of `capacity` bytes and becomes larger, if it will go on
// growing without being moved there.
std::byte* RoomToGrow(size_t capacity, size_t size) noexcept {
  if (size <= capacity || size < kSmallestToGrow) return nullptr;
  return size >= kSmallestLarge ? AllocateLargeToGrow(size) : TakeLargeToGrow(size);
}

void* MoveTo(void* moved, std::byte* block, size_t size) noexcept {
  size_t capacity = HeaderOf(block)->capacity;
  UnpoisonMemory(block, capacity);
  if (moved == nullptr) return size <= capacity ? block : nullptr;
  std::memcpy(moved, block, std::min(capacity, size));
  Free(block);
  return moved;
}

}  // namespace

void* Allocate(size_t size) noexcept {
  if (size <= kLargestSmall) [[likely]] {
    std::byte* block = TakeListed(size);
    if (block != nullptr) [[likely]]
      return block;
  }
  return AllocateSlowly(size, false);
}

void* AllocateZeroed(size_t size) noexcept {
  if (size <= kLargestSmall) [[likely]] {
    std::byte* block = TakeListed(size);
    if (block != nullptr) [[likely]]
      return std::memset(block, 0, size);
  }
  return AllocateSlowly(size, true);
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
  if (header.kind == BlockKind::kSmall) {
    if (Fits(header, size)) {
      PoisonMemory(block, header.capacity);
      UnpoisonMemory(block, size);
      return block;
    }
  } else if (header.kind == BlockKind::kLarge) {
    if (size >= kSmallestLarge || size >= SizeOfLarge(block)) return ReallocateLarge(block, size);
  }
  if (std::byte* room = RoomToGrow(header.capacity, size)) return MoveTo(room, block, size);
  if (header.kind == BlockKind::kMiddle && size > kLargestSmall && size < kSmallestLarge) {
    if (std::byte* moved = ReallocateMiddle(block, size)) return moved;
  }
  return MoveTo(Allocate(size), block, size);
}

void Free(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* block = static_cast<std::byte*>(memory);
  BlockKind kind = HeaderOf(block)->kind;
  if (kind == BlockKind::kSmall) [[likely]] {
    FreeSmall(block);
  } else if (kind == BlockKind::kMiddle) {
    FreeMiddle(block);
  } else {
    FreeLarge(block);
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
      .bytes_cached = threads.bytes_listed + slabs.bytes_free + middle_block_cache.bytes() +
                      large_block_cache.bytes(),
      .mappings = MappingCount(),
      .small = {positive(threads.small_hits), positive(threads.small_misses)},
      .middle = {positive(threads.middle_hits), positive(threads.middle_misses)},
      .large = {large.hits, large.misses},
  };
}

void TrimAllocator() noexcept {
  TrimThreadLists();
  TrimSlabs();
  middle_block_cache.DropAll();
  large_block_cache.DropAll();
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace hurray
