#include "storage/allocator.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "allocator_testing.h"
#include "storage/memory_poison.h"
#include "storage/pages.h"
#include "storage/size_classes.h"

namespace hurray {
namespace {

// Around every border between regimes and classes, and some in between.
std::vector<size_t> Sizes() {
  std::vector<size_t> sizes{0, 1, 15, 16, 17, 63, 64, 65, 100, 1000, 1023, 1024, 1025, 4096, 5000};
  for (size_t border : {kLargestSmall, size_t{128} << 10, kMiB, kSmallestLarge, 6 * kMiB}) {
    sizes.insert(sizes.end(), {border - 1, border, border + 1});
  }
  return sizes;
}

// Visits the bytes that tests look at: all near the ends of a block, and some in between.
template <typename Visit>
void ForSomeBytes(size_t size, Visit visit) {
  for (size_t i = 0; i < size; i += i < 1000 || size - i < 1000 ? 1 : 1021) visit(i);
}

uint8_t PatternAt(size_t i, size_t seed) { return static_cast<uint8_t>(i * 31 + i / 4096 + seed); }

void Fill(void* block, size_t size, size_t seed) {
  ForSomeBytes(size, [&](size_t i) { static_cast<uint8_t*>(block)[i] = PatternAt(i, seed); });
}

// Whether the first `size` bytes are as Fill wrote them for `filled` bytes.
bool Holds(const void* block, size_t size, size_t seed, size_t filled) {
  bool holds = true;
  ForSomeBytes(filled, [&](size_t i) {
    if (i < size) holds &= static_cast<const uint8_t*>(block)[i] == PatternAt(i, seed);
  });
  return holds;
}
bool Holds(const void* block, size_t size, size_t seed) { return Holds(block, size, seed, size); }

bool IsZero(const void* block, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(block);
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

class Allocator : public testing::TestWithParam<Mode> {
  SettingsForTest settings_{GetParam().settings};
};
INSTANTIATE_TEST_SUITE_P(Modes, Allocator, testing::ValuesIn(kModes),
                         [](const auto& row) { return row.param.name; });

// ---- one block

TEST_P(Allocator, GivesAlignedBlocksThatCanBeWritten) {
  for (size_t size : Sizes()) {
    void* block = Allocate(size);
    ASSERT_NE(block, nullptr) << size;
    EXPECT_TRUE(IsAligned(block, GivenAlignment(size))) << size;
    std::memset(static_cast<char*>(block) - kBlockPrefix, 0xEE, kBlockPrefix);
    Fill(block, size, 1);
    EXPECT_TRUE(Holds(block, size, 1));
    Free(block);
  }
}

TEST_P(Allocator, AlignsTenThousandRandomSizes) {
  std::mt19937_64 random(1);
  std::vector<void*> blocks;
  for (int i = 0; i < 10000; ++i) {
    size_t size = size_t{1} << random() % 20;
    size += random() % size;
    blocks.push_back(random() % 2 == 0 ? Allocate(size) : AllocateZeroed(size));
    ASSERT_TRUE(IsAligned(blocks.back(), 64)) << size;
    if (random() % 2 == 0) {
      std::swap(blocks.back(), blocks[random() % blocks.size()]);
      Free(blocks.back());
      blocks.pop_back();
    }
  }
  for (void* block : blocks) Free(block);
}

TEST_P(Allocator, GivesAnyAlignmentThatIsAskedFor) {
  for (size_t alignment = 64; alignment <= 8 * kMiB; alignment *= 2) {
    for (size_t size : {size_t{0}, size_t{100}, size_t{100} << 10, kSmallestLarge}) {
      for (bool zeroed : {false, true}) {
        void* block = AllocateAt(alignment, size, zeroed);
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(IsAligned(block, alignment));
        EXPECT_TRUE(!zeroed || IsZero(block, size));
        std::memset(block, 0xEE, size);
        Free(block);
      }
    }
  }
}

TEST_P(Allocator, ZeroesMemoryThatWasUsedBefore) {
  for (size_t size : Sizes()) {
    // Several times: how a large block is zeroed depends on what became of the last one.
    for (int round = 0; round < 20; ++round) {
      auto* block = static_cast<uint8_t*>(AllocateZeroed(size));
      ASSERT_NE(block, nullptr) << size;
      ASSERT_TRUE(IsZero(block, size)) << size << " in round " << round;
      if (round % 3 != 1) std::memset(block, 0xEE, size);
      Free(block);
      void* dirty = Allocate(size);
      std::memset(dirty, 0xDD, size);
      Free(dirty);
      if (size >= kMiB && round == 5) break;
    }
  }
}

TEST_P(Allocator, GivesNothingWhereThereIsNoMemory) {
  for (size_t size : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, SIZE_MAX / 2 - 1, SIZE_MAX / 2 + 1,
                      SIZE_MAX / 4, SIZE_MAX / 16, size_t{1} << 47}) {
    EXPECT_EQ(Allocate(size), nullptr) << size;
    EXPECT_EQ(AllocateZeroed(size), nullptr) << size;
    EXPECT_EQ(AllocateAt(4096, size, false), nullptr) << size;
  }
  EXPECT_EQ(AllocateAt(size_t{2} << 30, 100, false), nullptr);
  void* block = Allocate(100);  // and is none the worse for it
  EXPECT_NE(block, nullptr);
  Free(block);
}

TEST(Free, AcceptsNothing) { Free(nullptr); }

// ---- another size

TEST_P(Allocator, KeepsContentsAndAlignmentFromAnySizeToAny) {
  std::vector<size_t> targets{0, 64, 1025, kLargestSmall, kLargestSmall + 1};
  targets.insert(targets.end(), {100 << 10, kMiB, kSmallestLarge - 1, kSmallestLarge, 6 * kMiB});
  for (size_t from : Sizes()) {
    for (size_t to : SwitchedOn("HURRAY_SLOW") ? Sizes() : targets) {
      void* block = Allocate(from);
      ASSERT_NE(block, nullptr);
      Fill(block, from, 7);
      block = Reallocate(block, to);
      ASSERT_NE(block, nullptr) << from << " to " << to;
      EXPECT_TRUE(IsAligned(block, GivenAlignment(to))) << from << " to " << to;
      EXPECT_TRUE(Holds(block, std::min(from, to), 7, from)) << from << " to " << to;
      Fill(block, to, 8);
      EXPECT_TRUE(Holds(block, to, 8));
      Free(block);
    }
  }
}

TEST_P(Allocator, KeepsContentsOverManyStepsOfGrowth) {
  // The second time it grows over large blocks that are in the cache.
  for (int round = 0; round < 2; ++round) {
    size_t size = 1000;
    void* block = Allocate(size);
    Fill(block, size, 3);
    while (size < 20 * kMiB) {
      size_t larger = size + size / 3;
      block = Reallocate(block, larger);
      ASSERT_NE(block, nullptr);
      ASSERT_TRUE(Holds(block, size, 3)) << size;
      Fill(block, larger, 3);
      size = larger;
    }
    while (size > 100) {
      size_t smaller = size / 3;
      block = Reallocate(block, smaller);
      ASSERT_NE(block, nullptr);
      ASSERT_TRUE(Holds(block, smaller, 3, size)) << size;
      Fill(block, smaller, 3);
      size = smaller;
    }
    Free(block);
  }
}

TEST_P(Allocator, LeavesABlockAsItIsWhereItCannotGrow) {
  for (size_t size : {size_t{100}, size_t{100} << 10, 5 * kMiB}) {
    void* block = Allocate(size);
    Fill(block, size, 5);
    for (size_t impossible : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4, size_t{1} << 47}) {
      EXPECT_EQ(Reallocate(block, impossible), nullptr);
    }
    EXPECT_TRUE(Holds(block, size, 5));
    Free(block);
  }
}

// Allocates until there is no memory, and then some; returns whether all went well.
bool RunOutOfMemory() {
  constexpr size_t kSizes[] = {5 * kMiB, kMiB, 100 << 10, 40 << 10, 5000, 10};
  constexpr size_t kMost = size_t{1} << 20;
  std::vector<std::pair<void*, size_t>> blocks;
  blocks.reserve(kMost);
  // Something is kept that helps for a while.
  for (size_t size : {30 * kMiB, kMiB, kMiB - 1}) Free(Allocate(size));
  rlimit limit{AddressBytes() + 20 * kMiB, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
  for (size_t size : kSizes) {
    while (void* block = Allocate(size)) {
      Fill(block, size, blocks.size());
      blocks.emplace_back(block, size);
      if (blocks.size() == kMost) return false;
    }
  }
  bool well = true;
  for (size_t larger : {6 * kMiB, 3 * kMiB, kMiB + kMiB / 2}) {
    for (auto& [block, size] : blocks) {
      if (size < larger) well &= Reallocate(block, larger) == nullptr;
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    well &= Holds(blocks[i].first, blocks[i].second, i);
    Free(blocks[i].first);
  }
  for (size_t size : kSizes) {
    void* block = AllocateZeroed(size);
    well &= block != nullptr && IsZero(block, size);
    Free(block);
  }
  return well;
}

TEST_P(Allocator, LosesNothingWhenMemoryRunsOut) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs more addresses than a limit leaves";
  EXPECT_EXIT(_exit(RunOutOfMemory() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST_P(Allocator, ReallocatesNothingToABlock) {
  void* block = Reallocate(nullptr, 100);
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(IsAligned(block, 64));
  Free(block);
}

TEST_P(Allocator, GivesMemoryBackWhenALargeBlockShrinks) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory would be counted";
  void* block = Allocate(64 * kMiB);
  std::memset(block, 1, 64 * kMiB);
  size_t before = ResidentBytes();
  block = Reallocate(block, 8 * kMiB);
  TrimAllocator();
  EXPECT_LT(ResidentBytes() + 50 * kMiB, before);
  Free(block);
}

// ---- what is kept, and counted

TEST_P(Allocator, CountsWhatIsInUse) {
  size_t before = GetAllocatorStats().bytes_in_use;
  std::vector<void*> blocks;
  size_t total = 0;
  for (size_t size : Sizes()) {
    blocks.push_back(Allocate(size));
    total += size;
    size_t counted = GetAllocatorStats().bytes_in_use - before;
    EXPECT_GE(counted, total);
    EXPECT_LE(counted, total + total / 4 + 200 * blocks.size());
  }
  for (void* block : blocks) Free(block);
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before);
}

TEST_P(Allocator, CountsHitsAndMisses) {
  AllocatorStats before = GetAllocatorStats();
  for (int i = 0; i < 10; ++i) Free(Allocate(100));
  for (int i = 0; i < 10; ++i) Free(Allocate(100 << 10));
  for (int i = 0; i < 10; ++i) Free(Allocate(5 * kMiB));
  AllocatorStats after = GetAllocatorStats();
  EXPECT_EQ(after.small.hits + after.small.misses - before.small.hits - before.small.misses, 10u);
  EXPECT_GE(after.small.hits - before.small.hits, 9u);
  uint64_t hits = GetParam().settings.cache_bytes == 0 ? 0 : 9;
  EXPECT_EQ(after.middle.hits - before.middle.hits, hits);
  EXPECT_EQ(after.middle.misses - before.middle.misses, 10 - hits);
  EXPECT_EQ(after.large.hits - before.large.hits, hits);
  EXPECT_EQ(after.large.misses - before.large.misses, 10 - hits);
}

TEST_P(Allocator, TrimsEverythingThatIsKept) {
  std::vector<void*> blocks;
  for (size_t size : Sizes()) {
    for (int i = 0; i < 10; ++i) blocks.push_back(Allocate(size));
  }
  for (void* block : blocks) Free(block);
  AllocatorStats before = GetAllocatorStats();
  if (GetParam().settings.cache_bytes != 0) {
    EXPECT_GT(before.bytes_cached, 10 * kMiB);
  }
  TrimAllocator();
  AllocatorStats after = GetAllocatorStats();
  EXPECT_LT(after.bytes_cached, kMiB);
  EXPECT_LE(after.mappings, before.mappings);
}

TEST_P(Allocator, KeepsNoMoreThanItMay) {
  SettingsForTest settings({.cache_bytes = 20 * kMiB, .huge_pages = true, .portable = false});
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(Allocate(6 * kMiB));
  void* larger_than_all = Allocate(30 * kMiB);
  for (void* block : blocks) {
    Free(block);
    EXPECT_LE(large_block_cache.bytes(), 20 * kMiB);
  }
  EXPECT_EQ(large_block_cache.bytes(), 18 * kMiB);
  Free(larger_than_all);
  EXPECT_EQ(large_block_cache.bytes(), 18 * kMiB);
}

TEST(MiddleBlocks, AreTakenForWhatIsALittleSmaller) {
  SettingsForTest settings(kModes[0].settings);
  size_t before = GetAllocatorStats().bytes_in_use;
  void* first = Allocate(kMiB);
  Free(first);
  EXPECT_EQ(middle_block_cache.bytes(), kMiB);
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before);
  void* much_smaller = Allocate(kMiB / 2);
  EXPECT_EQ(middle_block_cache.bytes(), kMiB);
  void* smaller = Allocate(kMiB - 1000);
  EXPECT_EQ(smaller, first);
  EXPECT_EQ(middle_block_cache.bytes(), 0u);
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before + kMiB + kMiB / 2);
  EXPECT_EQ(Reallocate(smaller, kMiB), first);  // it has the room
  Free(much_smaller);
  Free(first);
  EXPECT_EQ(middle_block_cache.bytes(), kMiB + kMiB / 2);
}

TEST(MiddleBlocks, GrowIntoWhatIsKept) {
  SettingsForTest settings(kModes[0].settings);
  size_t before = GetAllocatorStats().bytes_in_use;
  void* kept = Allocate(kMiB);
  void* block = Allocate(100 << 10);
  Fill(block, 100 << 10, 4);
  Free(kept);
  block = Reallocate(block, 300 << 10);
  EXPECT_EQ(block, kept);
  EXPECT_TRUE(Holds(block, 100 << 10, 4));
  EXPECT_EQ(middle_block_cache.bytes(), size_t{100} << 10);
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before + kMiB);
  Fill(block, 300 << 10, 5);
  block = Reallocate(block, 50 << 10);
  EXPECT_TRUE(Holds(block, 50 << 10, 5, 300 << 10));
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before + (50 << 10));
  Free(block);
}

TEST(MiddleBlocks, GrowIntoALargeOneThatIsKept) {
  SettingsForTest settings(kModes[0].settings);
  size_t before = GetAllocatorStats().bytes_in_use;
  void* kept = Allocate(10 * kMiB);
  void* block = Allocate(100 << 10);
  Fill(block, 100 << 10, 4);
  Free(kept);
  block = Reallocate(block, 300 << 10);
  EXPECT_EQ(block, kept);
  EXPECT_TRUE(Holds(block, 100 << 10, 4));
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before + 10 * kMiB);
  for (size_t size : {size_t{300} << 10, kMiB, 3 * kMiB, 10 * kMiB}) {
    EXPECT_EQ(Reallocate(block, size), kept) << size;
  }
  Fill(block, 10 * kMiB, 5);
  block = Reallocate(block, 300 << 10);
  EXPECT_NE(block, kept);
  EXPECT_TRUE(Holds(block, 300 << 10, 5, 10 * kMiB));
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before + (300 << 10));
  Free(block);
}

TEST(LargeBlocks, AreNotWastedOnMuchThatMightGrow) {
  SettingsForTest settings(kModes[0].settings);
  // An eighth of the cache may be spare in all blocks together, and is so again and again.
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 10; ++i) blocks.push_back(Allocate(10 * kMiB));
    for (void*& block : blocks) Free(std::exchange(block, Allocate(100 << 10)));
    for (void*& block : blocks) block = Reallocate(block, 300 << 10);
    EXPECT_EQ(large_block_cache.bytes(), 7 * 10 * kMiB);
    if (round == 1) {  // what grows has less to spare
      for (void*& block : blocks) block = Reallocate(block, 3 * kMiB);
      EXPECT_EQ(large_block_cache.bytes(), 0u);
    }
    for (void* block : blocks) Free(block);
  }
}

TEST(MiddleBlocks, OfALargerAlignmentAreNotKept) {
  SettingsForTest settings(kModes[0].settings);
  Free(AllocateAt(64 * kMiB, 100 << 10, false));
  EXPECT_EQ(middle_block_cache.bytes(), 0u);
}

TEST(MiddleBlocks, TakeAFewOfTheBytesThatMayBeKept) {
  SettingsForTest settings({.cache_bytes = 8 * kMiB, .huge_pages = true, .portable = false});
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(Allocate(kMiB / 4));
  blocks.push_back(Allocate(2 * kMiB));
  for (void* block : blocks) Free(block);
  EXPECT_EQ(middle_block_cache.bytes(), kMiB);
}

TEST(Blocks, ThatNobodyUsedForLongAreGivenBack) {
  SettingsForTest settings(kModes[0].settings);
  auto make_old = [](void* block, size_t before) {
    reinterpret_cast<CachedBlock*>(static_cast<std::byte*>(block) - before)->freed_at -= 100;
  };
  void* middle[] = {Allocate(100 << 10), Allocate(kMiB)};
  void* large[] = {Allocate(5 * kMiB), Allocate(20 * kMiB)};
  for (void* block : {middle[0], middle[1], large[0], large[1]}) Free(block);
  make_old(middle[0], 0);
  make_old(large[0], PageSize());
  // Whoever takes the others sees how old the rest is.
  void* others[] = {Allocate(kMiB), Allocate(20 * kMiB)};
  EXPECT_EQ(middle_block_cache.bytes(), size_t{100} << 10);
  for (int i = 0; i < 100; ++i) Free(Allocate(40 << 10));
  EXPECT_EQ(middle_block_cache.bytes(), 0u);
  EXPECT_EQ(large_block_cache.bytes(), 0u);
  for (void* block : others) Free(block);
}

#ifdef HURRAY_POISONS_MEMORY
TEST_P(Allocator, LetsNobodyTouchWhatIsFreeOrBehindABlock) {
  for (size_t size : {size_t{100}, size_t{20} << 10, size_t{100} << 10, kMiB}) {
    auto* block = static_cast<std::byte*>(Allocate(size));
    Free(block);
    EXPECT_TRUE(__asan_address_is_poisoned(block + sizeof(CachedBlock))) << size;
    EXPECT_TRUE(__asan_address_is_poisoned(block + size - 1)) << size;
    size_t less = size - 16;  // as blocks of 8 bytes are either whole or not
    block = static_cast<std::byte*>(Allocate(less));
    EXPECT_EQ(__asan_region_is_poisoned(block, less), nullptr) << size;
    EXPECT_TRUE(__asan_address_is_poisoned(block + less)) << size;
    block = static_cast<std::byte*>(Reallocate(block, size));
    EXPECT_EQ(__asan_region_is_poisoned(block, size), nullptr) << size;
    block = static_cast<std::byte*>(Reallocate(block, less));
    EXPECT_TRUE(__asan_address_is_poisoned(block + less)) << size;
    Free(block);
  }
}
#endif

TEST(LargeBlocks, AreNotTakenForMuchSmallerOnes) {
  SettingsForTest settings(kModes[0].settings);
  Free(Allocate(64 * kMiB));
  void* small = Allocate(5 * kMiB);
  EXPECT_GT(large_block_cache.bytes(), 63 * kMiB);
  Free(small);
}

TEST(LargeBlocks, ThatNobodyTouchesTakeNoMemory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory would be counted";
  for (const Mode& mode : kModes) {
    SettingsForTest settings(mode.settings);
    Free(AllocateZeroed(256 * kMiB));
    size_t before = ResidentBytes();
    void* block = AllocateZeroed(256 * kMiB);
    EXPECT_LT(ResidentBytes(), before + kMiB) << mode.name;
    Free(block);
  }
}

TEST(Blocks, LargeAndSmallInTurnDoNotPileUp) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory would be counted";
  // What made some versions of glibc grow without bound: bug 14581.
  SettingsForTest settings(kModes[0].settings);
  auto round = [] {
    std::vector<void*> small;
    for (size_t i = 0; i < 200; ++i) {
      void* large = Allocate(kMiB + i % 16 * kMiB);
      std::memset(large, 1, 4096);
      small.push_back(Allocate(40 + i % 7 * 1000));
      Free(large);
    }
    for (void* block : small) Free(block);
  };
  for (int i = 0; i < 3; ++i) round();
  size_t resident = ResidentBytes();
  size_t mappings = GetAllocatorStats().mappings;
  for (int i = 0; i < 20; ++i) round();
  EXPECT_LT(ResidentBytes(), resident + 16 * kMiB);
  EXPECT_LE(GetAllocatorStats().mappings, mappings + 64);
}

// ---- threads and processes

TEST(Threads, FreeWhatOthersMade) {
  SettingsForTest settings(kModes[0].settings);
  size_t before = GetAllocatorStats().bytes_in_use;
  std::vector<void*> blocks;
  std::thread([&] {
    for (int round = 0; round < 200; ++round) {
      for (size_t size : {size_t{64}, size_t{1000}, size_t{20000}, size_t{100000}}) {
        blocks.push_back(Allocate(size));
        Fill(blocks.back(), size, size);
      }
    }
    blocks.push_back(Allocate(5 * kMiB));
  }).join();
  std::thread([&] {
    for (void* block : blocks) Free(block);
  }).join();
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before);
}

TEST(Threads, GiveTheirListsBackWhenTheyEnd) {
  SettingsForTest settings(kModes[0].settings);
  size_t cached = GetAllocatorStats().bytes_cached;
  for (int i = 0; i < 50; ++i) {
    std::thread([] {
      std::vector<void*> blocks;
      for (size_t k = 0; k < 1000; ++k) blocks.push_back(Allocate(k));
      for (void* block : blocks) Free(block);
    }).join();
  }
  TrimAllocator();
  EXPECT_LE(GetAllocatorStats().bytes_cached, cached + kMiB);
}

TEST(Threads, GiveTheirListsBackWhenAskedTo) {
  SettingsForTest settings(kModes[0].settings);
  std::atomic<int> step{0};
  std::thread other([&] {
    std::vector<void*> blocks;
    for (size_t k = 0; k < 1000; ++k) blocks.push_back(Allocate(500));
    for (void* block : blocks) Free(block);
    step = 1;
    while (step != 2) std::this_thread::yield();
    Free(Allocate(500));
    step = 3;
    while (step != 4) std::this_thread::yield();
  });
  while (step != 1) std::this_thread::yield();
  EXPECT_GT(GetAllocatorStats().bytes_cached, 500000u);
  TrimAllocator();
  step = 2;
  while (step != 3) std::this_thread::yield();
  TrimAllocator();  // what was just given back
  EXPECT_LT(GetAllocatorStats().bytes_cached, 100000u);
  step = 4;
  other.join();
}

// Thread-specific data whose destructor frees a block, perhaps after the thread's lists are gone.
pthread_key_t late_key;

TEST(Threads, MayFreeAndAllocateWhileTheyEnd) {
  SettingsForTest settings(kModes[0].settings);
  size_t before = GetAllocatorStats().bytes_in_use;
  ASSERT_EQ(pthread_key_create(&late_key,
                               [](void* block) {
                                 for (size_t size : {size_t{100}, size_t{100000}, 5 * kMiB}) {
                                   Free(Reallocate(Allocate(size), size + 1));
                                 }
                                 auto* left = static_cast<int*>(*static_cast<void**>(block));
                                 if (--*left > 0) {
                                   pthread_setspecific(late_key, block);  // once more, later
                                 } else {
                                   Free(left);
                                   Free(block);
                                 }
                               }),
            0);
  for (int i = 0; i < 4; ++i) {
    std::thread([] {
      auto* rounds = new (Allocate(sizeof(int))) int{3};
      pthread_setspecific(late_key, new (Allocate(sizeof(void*))) void*(rounds));
    }).join();
  }
  pthread_key_delete(late_key);
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before);
}

TEST(Fork, LetsAChildUseAndFreeWhatItsParentMade) {
  SettingsForTest settings(kModes[0].settings);
  std::vector<void*> blocks;
  for (size_t size : Sizes()) {
    blocks.push_back(Allocate(size));
    Fill(blocks.back(), size, 9);
  }
  // While another thread is inside of the allocator as often as not. It uses no other: that of a
  // sanitizer may be locked for ever in a child.
  std::atomic<bool> stop{false}, started{false};
  std::vector<void*> own(3000);
  std::thread busy([&] {
    while (!stop) {
      for (size_t i = 0; i < own.size(); ++i) own[i] = Allocate(i % 1500);
      for (void* block : own) Free(block);
      Free(Allocate(5 * kMiB));
      TrimAllocator();
      started = true;
    }
  });
  while (!started) std::this_thread::yield();
  int children = kSanitized ? 5 : 15;
  for (int child = 0; child < children; ++child) {
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      alarm(60);  // a lock that nobody holds any more would be waited for
      bool well = true;
      for (size_t i = 0; i < blocks.size(); ++i) well &= Holds(blocks[i], Sizes()[i], 9);
      for (void* block : blocks) Free(block);
      for (size_t size : Sizes()) {
        void* block = AllocateZeroed(size);
        well &= block != nullptr && IsZero(block, size);
        Free(Reallocate(block, size + 1000));
      }
      TrimAllocator();
      GetAllocatorStats();
      _exit(well ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  busy.join();
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_TRUE(Holds(blocks[i], Sizes()[i], 9));
    Free(blocks[i]);
  }
}

// Freed when the process destroys its static objects.
struct FreedLate {
  std::vector<void*> blocks;
  ~FreedLate() {
    for (void* block : blocks) Free(block);
    Free(AllocateZeroed(100));
    Free(AllocateZeroed(5 * kMiB));
  }
};
FreedLate freed_late;

TEST(Blocks, MayBeFreedUntilTheVeryEnd) {
  EXPECT_EXIT(
      {
        for (size_t size : Sizes()) freed_late.blocks.push_back(Allocate(size));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hurray
