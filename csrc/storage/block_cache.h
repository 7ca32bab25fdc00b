// Blocks that nobody uses, kept for those who come: pages that are there already cost a fraction of
// those that the system has to find and clear.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace hurray {

// What a block in a cache keeps about itself, somewhere in its own memory.
struct CachedBlock {
  size_t capacity = 0;           // bytes that its user has
  int64_t freed_at = 0;          // seconds
  CachedBlock* newer = nullptr;  // freed later
  CachedBlock* older = nullptr;  // freed earlier
};

// Used by all threads, and never destroyed: arrays are freed until the very end of the process.
class BlockCache {
 public:
  // Keeps a `share`th of AllocatorSettings::cache_bytes; lets go of blocks by `release`.
  constexpr BlockCache(void (*release)(CachedBlock*) noexcept, size_t share) noexcept
      : release_(release), share_(share) {}

  // The smallest block of at least `size` and at most `most` bytes, of those that were freed last;
  // nullptr if there is none.
  CachedBlock* Take(size_t size, size_t most) noexcept;

  // Keeps a block, at the expense of the ones that were freed first, or releases it if it is larger
  // than the cache may be.
  void Put(CachedBlock* block) noexcept;

  // Releases what was not used for some seconds. There is no thread that would watch the time:
  // whoever allocates calls this now and then.
  void DropOld() noexcept;
  // Releases what was freed before a time, in seconds.
  void DropFreedBefore(int64_t time) noexcept;
  void DropAll() noexcept;

  size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

  // Around fork().
  void Lock() noexcept { lock_.lock(); }
  void Unlock() noexcept { lock_.unlock(); }

 private:
  void Add(CachedBlock* block) noexcept;
  void Remove(CachedBlock* block) noexcept;
  template <typename Enough>
  CachedBlock* RemoveOldest(Enough enough) noexcept;
  void Release(CachedBlock* removed) noexcept;

  void (*release_)(CachedBlock*) noexcept;
  size_t share_;
  std::mutex lock_;  // guards what follows
  CachedBlock* newest_ = nullptr;
  CachedBlock* oldest_ = nullptr;
  // Read without the lock, too.
  std::atomic<size_t> bytes_{0};             // capacities
  std::atomic<int64_t> oldest_freed_at_{0};  // of the blocks
};

}  // namespace hurray
