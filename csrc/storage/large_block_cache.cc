#include "storage/large_block_cache.h"

#include <atomic>
#include <ctime>
#include <mutex>
#include <new>

#include "storage/allocator_settings.h"
#include "storage/pages.h"

namespace hurray {

namespace {

constexpr int64_t kMostSeconds = 5;

// Guards the list. Nothing here is ever destroyed.
constinit std::mutex lock;
constinit LargeBlock* newest = nullptr;
constinit LargeBlock* oldest = nullptr;
// Of the blocks in the list; written under the lock.
std::atomic<size_t> bytes{0};
// When the oldest was freed.
std::atomic<int64_t> oldest_freed_at{0};

int64_t Now() noexcept {
  timespec now{};
#ifdef CLOCK_MONOTONIC_COARSE
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
  ::clock_gettime(CLOCK_MONOTONIC, &now);
#endif
  return now.tv_sec;
}

size_t SizeOf(const LargeBlock* block) noexcept { return PageSize() + block->capacity; }

void Remove(LargeBlock* block) noexcept {
  (block->previous != nullptr ? block->previous->next : newest) = block->next;
  (block->next != nullptr ? block->next->previous : oldest) = block->previous;
  bytes.store(bytes.load(std::memory_order_relaxed) - SizeOf(block), std::memory_order_relaxed);
  if (oldest != nullptr) oldest_freed_at.store(oldest->freed_at, std::memory_order_relaxed);
}

void Add(LargeBlock* block) noexcept {
  block->previous = nullptr;
  block->next = newest;
  (newest != nullptr ? newest->previous : oldest) = block;
  newest = block;
  bytes.store(bytes.load(std::memory_order_relaxed) + SizeOf(block), std::memory_order_relaxed);
  oldest_freed_at.store(oldest->freed_at, std::memory_order_relaxed);
}

// Takes blocks off the old end until `enough` is content.
template <typename Enough>
LargeBlock* RemoveOldest(Enough enough) noexcept {
  LargeBlock* removed = nullptr;
  while (oldest != nullptr && !enough()) {
    LargeBlock* block = oldest;
    Remove(block);
    block->next = removed;
    removed = block;
  }
  return removed;
}

// Without the lock: it takes long.
void UnmapAll(LargeBlock* block) noexcept {
  while (block != nullptr) {
    LargeBlock* next = block->next;
    UnmapLargeBlock(block);
    block = next;
  }
}

}  // namespace

std::byte* AddressOf(LargeBlock* block) noexcept {
  return reinterpret_cast<std::byte*>(block) + PageSize();
}

LargeBlock* LargeBlockAt(std::byte* address) noexcept {
  return std::launder(reinterpret_cast<LargeBlock*>(address - PageSize()));
}

void UnmapLargeBlock(LargeBlock* block) noexcept {
  UnmapPages(reinterpret_cast<std::byte*>(block), SizeOf(block));
}

LargeBlock* TakeCachedLargeBlock(size_t size, size_t most) noexcept {
  std::lock_guard held(lock);
  LargeBlock* best = nullptr;
  for (LargeBlock* block = newest; block != nullptr; block = block->next) {
    bool suits = block->capacity >= size && block->capacity <= most;
    if (suits && (best == nullptr || block->capacity < best->capacity)) best = block;
  }
  if (best != nullptr) Remove(best);
  return best;
}

void CacheLargeBlock(LargeBlock* block) noexcept {
  size_t most = Settings().cache_bytes;
  if (SizeOf(block) > most) {
    UnmapLargeBlock(block);
    return;
  }
  block->freed_at = Now();
  LargeBlock* removed = nullptr;
  {
    std::lock_guard held(lock);
    removed = RemoveOldest([&] {
      return bytes.load(std::memory_order_relaxed) <= most - SizeOf(block) &&
             block->freed_at - oldest->freed_at <= kMostSeconds;
    });
    Add(block);
  }
  UnmapAll(removed);
}

void DropOldLargeBlocks() noexcept {
  if (bytes.load(std::memory_order_relaxed) == 0) return;
  int64_t now = Now();
  if (now - oldest_freed_at.load(std::memory_order_relaxed) <= kMostSeconds) return;
  LargeBlock* removed = nullptr;
  {
    std::lock_guard held(lock);
    removed = RemoveOldest([&] { return now - oldest->freed_at <= kMostSeconds; });
  }
  UnmapAll(removed);
}

void DropAllLargeBlocks() noexcept {
  LargeBlock* removed = nullptr;
  {
    std::lock_guard held(lock);
    removed = RemoveOldest([] { return false; });
  }
  UnmapAll(removed);
}

size_t CachedLargeBytes() noexcept { return bytes.load(std::memory_order_relaxed); }

void LockLargeBlocks() noexcept { lock.lock(); }
void UnlockLargeBlocks() noexcept { lock.unlock(); }

}  // namespace hurray
