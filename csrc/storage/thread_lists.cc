#include "storage/thread_lists.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <new>

namespace hurray {

namespace {

constexpr size_t kMostListedBytes = size_t{1} << 20;  // for each thread
// What a thread fetches when a list is empty: not much more than it asked for.
constexpr size_t kFetchBytes = size_t{16} << 10;
constexpr size_t kFetchBlocks = 32;

// What a thread has whose lists were taken down.
constinit ThreadLists ended_lists;

// The lock guards the ring of all lists and the counts of threads that ended; as little as all
// else here is it ever destroyed.
constinit std::mutex lock;
constinit ThreadLists* all_lists = nullptr;
constinit AllocationCounts ended_counts;

// Takes the second half of each list, which has been there longest, or everything.
std::byte* Unlist(ThreadLists* lists, bool all) noexcept {
  std::byte* taken = nullptr;
  size_t bytes = 0;
  for (size_t size_class = 0; size_class < kClassCount; ++size_class) {
    std::byte** cut = &lists->first[size_class];
    if (!all) {
      // `end` moves two steps for each of `cut`.
      for (std::byte* end = *cut; end != nullptr; end = NextFree(end)) {
        cut = &NextFree(*cut);
        end = NextFree(end);
        if (end == nullptr) break;
      }
    }
    std::byte* rest = *cut;
    *cut = nullptr;
    while (rest != nullptr) {
      std::byte* block = rest;
      rest = NextFree(block);
      NextFree(block) = taken;
      taken = block;
      bytes += kSizeClasses.stride[size_class];
    }
  }
  AddTo(lists->bytes, size_t{0} - bytes);
  return taken;
}

void AddTotals(const AllocationCounts& counts, ThreadTotals& totals) noexcept {
  totals.small_hits += counts.small_hits.load(std::memory_order_relaxed);
  totals.small_misses += counts.small_misses.load(std::memory_order_relaxed);
  totals.middle_hits += counts.middle_hits.load(std::memory_order_relaxed);
  totals.middle_misses += counts.middle_misses.load(std::memory_order_relaxed);
  totals.middle_in_use += counts.middle_in_use.load(std::memory_order_relaxed);
}

void EndThread(void* own) noexcept {
  auto* lists = static_cast<ThreadLists*>(own);
  my_lists = &ended_lists;
  GiveToSlabs(Unlist(lists, true));
  {
    std::lock_guard held(lock);
    (lists->previous != nullptr ? lists->previous->next : all_lists) = lists->next;
    if (lists->next != nullptr) lists->next->previous = lists->previous;
    ThreadTotals totals{};
    AddTotals(lists->counts, totals);
    ended_counts.small_hits += totals.small_hits;
    ended_counts.small_misses += totals.small_misses;
    ended_counts.middle_hits += totals.middle_hits;
    ended_counts.middle_misses += totals.middle_misses;
    ended_counts.middle_in_use += totals.middle_in_use;
  }
  delete lists;
}

// The key whose destructor tells that a thread ends. It is made when the library is loaded.
struct ThreadEndKey {
  pthread_key_t key{};
  bool exists;
  ThreadEndKey() noexcept
      : exists(pthread_key_create(&key, [](void* own) { EndThread(own); }) == 0) {}
};
const ThreadEndKey thread_end;

ThreadLists* MakeLists() noexcept {
  if (!thread_end.exists) return nullptr;
  auto* lists = new (std::nothrow) ThreadLists;
  if (lists == nullptr) return nullptr;
  if (pthread_setspecific(thread_end.key, lists) != 0) {
    delete lists;
    return nullptr;
  }
  lists->most_bytes.store(kMostListedBytes, std::memory_order_relaxed);
  std::lock_guard held(lock);
  lists->next = all_lists;
  if (all_lists != nullptr) all_lists->previous = lists;
  all_lists = lists;
  return lists;
}

}  // namespace

constinit ThreadLists no_lists;
constinit thread_local ThreadLists* my_lists HURRAY_FAST_TLS = &no_lists;

ThreadLists* OwnLists() noexcept {
  if (my_lists == &ended_lists) return nullptr;
  if (my_lists == &no_lists) {
    ThreadLists* lists = MakeLists();
    if (lists == nullptr) return nullptr;
    my_lists = lists;
  }
  return my_lists;
}

std::byte* FetchSmall(size_t size) noexcept {
  Count(&AllocationCounts::small_misses, 1);
  size_t size_class = ClassOf(size);
  size_t stride = kSizeClasses.stride[size_class];
  ThreadLists* lists = OwnLists();
  size_t count = std::clamp(kFetchBytes / stride, size_t{1}, kFetchBlocks);
  std::byte* block = TakeFromSlabs(size_class, lists != nullptr ? count : 1);
  if (block == nullptr) return nullptr;
  UnpoisonMemory(block, size);
  if (lists == nullptr) return block;
  size_t listed = 0;
  for (std::byte* other = NextFree(block); other != nullptr; other = NextFree(other)) {
    listed += stride;
  }
  lists->first[size_class] = NextFree(block);
  AddTo(lists->bytes, listed);
  return block;
}

void FreeSmallSlowly(std::byte* block) noexcept {
  ThreadLists* lists = OwnLists();
  if (lists == nullptr) {
    NextFree(block) = nullptr;
    GiveToSlabs(block);
    return;
  }
  const BlockHeader* header = HeaderOf(block);
  NextFree(block) = lists->first[header->size_class];
  lists->first[header->size_class] = block;
  AddTo(lists->bytes, header->capacity + kBeforeBlock);
  // Another thread has asked for everything, or this was one block too many.
  bool trim = lists->most_bytes.load(std::memory_order_relaxed) == 0;
  if (trim) lists->most_bytes.store(kMostListedBytes, std::memory_order_relaxed);
  if (trim || lists->bytes.load(std::memory_order_relaxed) > kMostListedBytes) {
    GiveToSlabs(Unlist(lists, trim));
  }
}

void CountSlowly(CountOf number, int64_t change) noexcept {
  if (ThreadLists* lists = OwnLists(); lists != nullptr) {
    AddTo(lists->counts.*number, change);
  } else {
    (ended_counts.*number).fetch_add(change, std::memory_order_relaxed);
  }
}

void TrimThreadLists() noexcept {
  if (ThreadLists* lists = OwnLists(); lists != nullptr) GiveToSlabs(Unlist(lists, true));
  std::lock_guard held(lock);
  for (ThreadLists* lists = all_lists; lists != nullptr; lists = lists->next) {
    if (lists != my_lists) lists->most_bytes.store(0, std::memory_order_relaxed);
  }
}

ThreadTotals GetThreadTotals() noexcept {
  ThreadTotals totals{};
  std::lock_guard held(lock);
  AddTotals(ended_counts, totals);
  for (ThreadLists* lists = all_lists; lists != nullptr; lists = lists->next) {
    totals.bytes_listed += lists->bytes.load(std::memory_order_relaxed);
    AddTotals(lists->counts, totals);
  }
  return totals;
}

void LockThreadLists() noexcept { lock.lock(); }
void UnlockThreadLists() noexcept { lock.unlock(); }

}  // namespace hurray
