// Many threads allocate, reallocate and free at random for a while, each block on whatever thread
// it comes to. Ten seconds; a minute with HURRAY_SLOW=1, a second or so with HURRAY_SHORT=1.

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "allocator_testing.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace hurray {
namespace {

#ifdef __GLIBC__
// The top of an arena of a thread's own is never given back to the system, whoever asks for it, and
// would be counted below. From the start of the process, for there is no way back to one arena.
[[maybe_unused]] const int one_arena = mallopt(M_ARENA_MAX, 1);
#endif

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds Duration() {
  if (SwitchedOn("HURRAY_SLOW")) return std::chrono::seconds(60);
  return std::chrono::milliseconds(SwitchedOn("HURRAY_SHORT") ? 1000 : 10000);
}

constexpr size_t kThreads = 8;
constexpr size_t kSlots = 400;

// A block with canaries: words that tell its seed and their own place, at its ends and here and
// there between.
struct Item {
  std::byte* block = nullptr;
  size_t size = 0;
  uint64_t seed = 0;

  template <typename Visit>
  static void ForEachCanary(size_t size, Visit visit) {
    if (size < sizeof(uint64_t)) return;
    size_t last = (size - sizeof(uint64_t)) & ~size_t{7};
    size_t step = size < 4096 ? 8 : size < kMiB ? 1000 * 8 : 50000 * 8;
    for (size_t at = 0; at < last; at += step) visit(at);
    visit(last);
  }
  void WriteCanaries() const {
    ForEachCanary(size, [&](size_t at) {
      uint64_t word = seed ^ at;
      std::memcpy(block + at, &word, sizeof(word));
    });
  }
  // How many of the first `count` bytes' canaries are not as they were written for `size`.
  size_t Damage(size_t count) const {
    size_t damaged = 0;
    ForEachCanary(size, [&](size_t at) {
      if (at + sizeof(uint64_t) > count) return;
      uint64_t word;
      std::memcpy(&word, block + at, sizeof(word));
      damaged += word != (seed ^ at);
    });
    return damaged;
  }
};

size_t RandomSize(std::mt19937_64& random) {
  uint64_t kind = random() % 1000;
  if (kind < 700) return random() % 1200;
  if (kind < 900) return random() % (40 << 10);
  if (kind < 990) return random() % kMiB;
  return random() % (10 * kMiB);
}

class Stress {
 public:
  void Run(size_t number, Clock::time_point end) {
    std::mt19937_64 random(number);
    while (Clock::now() < end) {
      for (int i = 0; i < 200; ++i) {
        // Whoever takes an item has it alone.
        std::atomic<Item*>& slot = slots_[random() % kSlots];
        Item* item = slot.exchange(nullptr, std::memory_order_acq_rel);
        if (item == nullptr) {
          item = Make(random);
        } else if (random() % 3 == 0) {
          Resize(*item, random);
        } else {
          Destroy(item);
          item = nullptr;
        }
        item = slot.exchange(item, std::memory_order_acq_rel);
        if (item != nullptr) Destroy(item);
      }
      if (number == 0 && random() % 50 == 0) TrimAllocator();
      if (number == 1) GetAllocatorStats();
    }
  }
  void Clear() {
    for (auto& slot : slots_) {
      if (Item* item = slot.exchange(nullptr); item != nullptr) Destroy(item);
    }
  }
  size_t damage() const { return damage_; }
  size_t steps() const { return steps_; }

 private:
  Item* Make(std::mt19937_64& random) {
    auto* item = new Item{nullptr, RandomSize(random), random()};
    bool zeroed = random() % 4 == 0;
    item->block =
        static_cast<std::byte*>(zeroed ? AllocateZeroed(item->size) : Allocate(item->size));
    damage_ += item->block == nullptr || !IsAligned(item->block, GivenAlignment(item->size));
    if (zeroed) {
      Item::ForEachCanary(item->size, [&](size_t at) {
        uint64_t word;
        std::memcpy(&word, item->block + at, sizeof(word));
        damage_ += word != 0;
      });
    }
    item->WriteCanaries();
    ++steps_;
    return item;
  }
  void Resize(Item& item, std::mt19937_64& random) {
    size_t size = RandomSize(random);
    item.block = static_cast<std::byte*>(Reallocate(item.block, size));
    damage_ += item.block == nullptr || !IsAligned(item.block, GivenAlignment(size));
    damage_ += item.Damage(std::min(size, item.size));
    item.size = size;
    item.WriteCanaries();
    ++steps_;
  }
  void Destroy(Item* item) {
    damage_ += item->Damage(item->size);
    Free(item->block);
    delete item;
    ++steps_;
  }

  std::array<std::atomic<Item*>, kSlots> slots_{};
  std::atomic<size_t> damage_{0};
  std::atomic<size_t> steps_{0};
};

class AllocatorStress : public testing::TestWithParam<Mode> {};

TEST_P(AllocatorStress, LosesNothingAndGivesItAllBack) {
  SettingsForTest settings(GetParam().settings);
  Stress stress;
  size_t in_use = GetAllocatorStats().bytes_in_use;
  auto run = [&](std::chrono::milliseconds duration) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&stress, i, end = Clock::now() + duration] { stress.Run(i, end); });
    }
    for (std::thread& thread : threads) thread.join();
    stress.Clear();
    TrimAllocator();
  };
  auto duration = Duration() / static_cast<int>(std::size(kModes));
  // Once for what is never given back: stacks, tables, the first page of each slab.
  run(duration / 6);
  size_t resident = ResidentBytes();
  run(duration - duration / 6);
  EXPECT_EQ(stress.damage(), 0u);
  EXPECT_GT(stress.steps(), 1000u);
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, in_use);
  if (!kSanitized) {
    EXPECT_LT(ResidentBytes(), resident + resident / 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, AllocatorStress, testing::ValuesIn(kModes),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace hurray
