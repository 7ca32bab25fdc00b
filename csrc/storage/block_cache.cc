#include "storage/block_cache.h"

#include <ctime>

#include "storage/allocator_settings.h"

namespace hurray {

namespace {

constexpr int64_t kMostSeconds = 5;
// How many blocks are looked at to find one that suits.
constexpr int kMostLooks = 64;

int64_t Now() noexcept {
  timespec now{};
#ifdef CLOCK_MONOTONIC_COARSE
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
  ::clock_gettime(CLOCK_MONOTONIC, &now);
#endif
  return now.tv_sec;
}

}  // namespace

CachedBlock* BlockCache::Take(size_t size, size_t most) noexcept {
  if (bytes() < size) return nullptr;
  std::lock_guard held(lock_);
  CachedBlock* best = nullptr;
  int looks = 0;
  for (CachedBlock* block = newest_; block != nullptr && looks < kMostLooks; ++looks) {
    bool suits = block->capacity >= size && block->capacity <= most;
    if (suits && (best == nullptr || block->capacity < best->capacity)) best = block;
    if (suits && block->capacity == size) break;
    block = block->older;
  }
  if (best != nullptr) Remove(best);
  return best;
}

void BlockCache::Put(CachedBlock* block) noexcept {
  size_t most = Settings().cache_bytes / share_;
  if (block->capacity > most) {
    release_(block);
    return;
  }
  block->freed_at = Now();
  CachedBlock* removed = nullptr;
  {
    std::lock_guard held(lock_);
    removed = RemoveOldest([&] {
      return bytes() <= most - block->capacity &&
             block->freed_at - oldest_->freed_at <= kMostSeconds;
    });
    Add(block);
  }
  Release(removed);
}

void BlockCache::DropOld() noexcept {
  if (bytes() != 0) DropFreedBefore(Now() - kMostSeconds);
}

void BlockCache::DropFreedBefore(int64_t time) noexcept {
  if (oldest_freed_at_.load(std::memory_order_relaxed) >= time) return;
  CachedBlock* removed = nullptr;
  {
    std::lock_guard held(lock_);
    removed = RemoveOldest([&] { return oldest_->freed_at >= time; });
  }
  Release(removed);
}

void BlockCache::DropAll() noexcept {
  CachedBlock* removed = nullptr;
  {
    std::lock_guard held(lock_);
    removed = RemoveOldest([] { return false; });
  }
  Release(removed);
}

void BlockCache::Add(CachedBlock* block) noexcept {
  block->newer = nullptr;
  block->older = newest_;
  (newest_ != nullptr ? newest_->newer : oldest_) = block;
  newest_ = block;
  bytes_.store(bytes() + block->capacity, std::memory_order_relaxed);
  oldest_freed_at_.store(oldest_->freed_at, std::memory_order_relaxed);
}

void BlockCache::Remove(CachedBlock* block) noexcept {
  (block->newer != nullptr ? block->newer->older : newest_) = block->older;
  (block->older != nullptr ? block->older->newer : oldest_) = block->newer;
  bytes_.store(bytes() - block->capacity, std::memory_order_relaxed);
  if (oldest_ != nullptr) oldest_freed_at_.store(oldest_->freed_at, std::memory_order_relaxed);
}

// Takes blocks off the old end until `enough` is content, and chains them by `older`.
template <typename Enough>
CachedBlock* BlockCache::RemoveOldest(Enough enough) noexcept {
  CachedBlock* removed = nullptr;
  while (oldest_ != nullptr && !enough()) {
    CachedBlock* block = oldest_;
    Remove(block);
    block->older = removed;
    removed = block;
  }
  return removed;
}

// Not under the lock: it takes long.
void BlockCache::Release(CachedBlock* removed) noexcept {
  while (removed != nullptr) {
    CachedBlock* next = removed->older;
    release_(removed);
    removed = next;
  }
}

}  // namespace hurray
