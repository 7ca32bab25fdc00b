// Small blocks: each thread takes them from lists of its own, without a lock, and puts back there
// whatever it frees, no matter which thread took it. What is too much goes back to the slabs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "storage/block_header.h"
#include "storage/memory_poison.h"
#include "storage/size_classes.h"
#include "storage/slabs.h"

// Where the C library keeps some room for it, the thread's own variable is reached without a call.
#if defined(__GLIBC__)
#define HURRAY_FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define HURRAY_FAST_TLS
#endif

namespace hurray {

// How often each regime was asked and could serve from what it had. Signed: what one thread
// allocates, another may free.
struct AllocationCounts {
  std::atomic<int64_t> small_hits{0};
  std::atomic<int64_t> small_misses{0};
  std::atomic<int64_t> middle_hits{0};
  std::atomic<int64_t> middle_misses{0};
  std::atomic<int64_t> middle_in_use{0};  // bytes
};

// Only its own thread writes the lists; others read the numbers, and lower `most_bytes` to ask the
// thread to give back what it has.
struct alignas(64) ThreadLists {
  std::byte* first[kClassCount] = {};
  std::atomic<size_t> bytes{0};       // in the lists
  std::atomic<size_t> most_bytes{0};  // more than that goes back to the slabs
  AllocationCounts counts;
  ThreadLists* previous = nullptr;  // of all threads' lists
  ThreadLists* next = nullptr;
};

// A thread that has none yet, or none any more, has lists that are empty and stay so.
extern ThreadLists no_lists;
extern constinit thread_local ThreadLists* my_lists HURRAY_FAST_TLS;

// This thread's own, made if need be; nullptr while the thread ends.
ThreadLists* OwnLists() noexcept;

// For a number that only this thread writes: cheaper than an atomic addition.
template <typename T>
void AddTo(std::atomic<T>& number, T change) noexcept {
  number.store(number.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
}

using CountOf = std::atomic<int64_t> AllocationCounts::*;
void CountSlowly(CountOf number, int64_t change) noexcept;

// Counts for this thread or, while it ends, for all that have ended.
inline void Count(CountOf number, int64_t change) noexcept {
  ThreadLists* lists = my_lists;
  if (lists->most_bytes.load(std::memory_order_relaxed) != 0) [[likely]] {
    AddTo(lists->counts.*number, change);
  } else {
    CountSlowly(number, change);
  }
}

void FreeSmallSlowly(std::byte* block) noexcept;

// A block that this thread has listed, or nullptr. REQUIRES: size <= kLargestSmall.
inline std::byte* TakeListed(size_t size) noexcept {
  size_t size_class = ClassOf(size);
  ThreadLists* lists = my_lists;
  std::byte* block = lists->first[size_class];
  if (block == nullptr) [[unlikely]]
    return nullptr;
  lists->first[size_class] = NextFree(block);
  AddTo(lists->bytes, size_t{0} - kSizeClasses.stride[size_class]);
  AddTo(lists->counts.small_hits, int64_t{1});
  UnpoisonMemory(block, size);
  return block;
}

// Where TakeListed has none. nullptr when there is no memory. REQUIRES: size <= kLargestSmall.
std::byte* FetchSmall(size_t size) noexcept;

inline void FreeSmall(std::byte* block) noexcept {
  ThreadLists* lists = my_lists;
  const BlockHeader* header = HeaderOf(block);
  PoisonMemory(block, header->capacity);
  size_t bytes = lists->bytes.load(std::memory_order_relaxed) + header->capacity + kBeforeBlock;
  if (bytes <= lists->most_bytes.load(std::memory_order_relaxed)) [[likely]] {
    NextFree(block) = lists->first[header->size_class];
    lists->first[header->size_class] = block;
    lists->bytes.store(bytes, std::memory_order_relaxed);
  } else {
    FreeSmallSlowly(block);
  }
}

// Gives back this thread's lists, and asks all others to do so at their next chance.
void TrimThreadLists() noexcept;

struct ThreadTotals {
  size_t bytes_listed;
  int64_t small_hits, small_misses, middle_hits, middle_misses, middle_in_use;
};
ThreadTotals GetThreadTotals() noexcept;

// Around fork().
void LockThreadLists() noexcept;
void UnlockThreadLists() noexcept;

}  // namespace hurray
