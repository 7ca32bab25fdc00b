#include "storage/block_cache.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "allocator_testing.h"

namespace hurray {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<size_t> released;  // capacities

constexpr size_t kMost = 100;

class BlockCacheTest : public testing::Test {
 protected:
  BlockCacheTest() { released.clear(); }

  CachedBlock* Put(size_t capacity) {
    blocks_.push_back({.capacity = capacity});
    cache_.Put(&blocks_.back());
    return &blocks_.back();
  }
  size_t Take(size_t size, size_t most) {
    CachedBlock* block = cache_.Take(size, most);
    return block != nullptr ? block->capacity : 0;
  }
  // What is in the cache, first freed first.
  std::vector<size_t> Contents() {
    released.clear();
    cache_.DropAll();
    std::reverse(released.begin(), released.end());
    return released;
  }

  SettingsForTest settings_{{.cache_bytes = 2 * kMost, .huge_pages = false, .portable = false}};
  BlockCache cache_{[](CachedBlock* block) noexcept { released.push_back(block->capacity); }, 2};
  std::deque<CachedBlock> blocks_;
};

TEST_F(BlockCacheTest, GivesTheSmallestThatSuits) {
  for (size_t capacity : {20u, 12u, 15u, 10u, 30u}) Put(capacity);
  EXPECT_EQ(Take(11, 25), 12u);
  EXPECT_EQ(Take(11, 25), 15u);
  EXPECT_EQ(Take(11, 25), 20u);
  EXPECT_EQ(Take(11, 25), 0u);
  EXPECT_THAT(Contents(), ElementsAre(10, 30));
}

TEST_F(BlockCacheTest, GivesTheOneThatWasFreedLastOfThoseThatAreEqual) {
  Put(20);
  CachedBlock* second = Put(20);
  Put(30);
  EXPECT_EQ(cache_.Take(20, 20), second);
}

TEST_F(BlockCacheTest, GivesNothingWhereThereIsNone) {
  EXPECT_EQ(Take(0, SIZE_MAX), 0u);
  Put(20);
  EXPECT_EQ(Take(20, 20), 20u);
  EXPECT_EQ(Take(0, SIZE_MAX), 0u);
  EXPECT_EQ(cache_.bytes(), 0u);
}

TEST_F(BlockCacheTest, KeepsNoMoreThanItsShareAndLetsGoOfTheFirst) {
  for (size_t capacity : {40u, 30u, 20u, 10u}) Put(capacity);
  EXPECT_EQ(cache_.bytes(), kMost);
  EXPECT_THAT(released, IsEmpty());
  Put(1);
  EXPECT_THAT(released, ElementsAre(40));
  EXPECT_EQ(cache_.bytes(), 61u);
  Put(95);
  EXPECT_THAT(released, ElementsAre(40, 10, 20, 30));
  EXPECT_THAT(Contents(), ElementsAre(1, 95));
}

TEST_F(BlockCacheTest, LetsGoOfWhatIsLargerThanItMayBe) {
  Put(30);
  Put(kMost + 1);
  EXPECT_THAT(released, ElementsAre(kMost + 1));
  EXPECT_THAT(Contents(), ElementsAre(30));
  Put(kMost);
  EXPECT_THAT(Contents(), ElementsAre(kMost));
}

TEST_F(BlockCacheTest, KeepsNothingWhereNothingMayBeKept) {
  SetSettingsForTesting({.cache_bytes = 0, .huge_pages = false, .portable = false});
  Put(1);
  EXPECT_THAT(released, ElementsAre(1));
  EXPECT_EQ(cache_.bytes(), 0u);
}

TEST_F(BlockCacheTest, LetsGoOfWhatIsOldWhenMoreComes) {
  Put(10);
  Put(20)->freed_at -= 100;
  Put(30);
  EXPECT_THAT(Contents(), ElementsAre(10, 20, 30));  // the first is not that old

  Put(10)->freed_at -= 100;
  Put(20)->freed_at -= 100;
  Put(30);
  EXPECT_THAT(Contents(), ElementsAre(30));
}

TEST_F(BlockCacheTest, LetsGoOfWhatIsOldWhenAskedTo) {
  CachedBlock* old = Put(10);
  Put(20);
  cache_.DropOld();
  EXPECT_THAT(released, IsEmpty());
  old->freed_at -= 100;
  Take(20, 20);
  cache_.DropOld();
  EXPECT_THAT(released, ElementsAre(10));
  EXPECT_EQ(cache_.bytes(), 0u);
}

TEST_F(BlockCacheTest, LetsGoOfWhatWasFreedBeforeATime) {
  CachedBlock* block = Put(10);
  cache_.DropFreedBefore(block->freed_at);
  EXPECT_THAT(released, IsEmpty());
  cache_.DropFreedBefore(block->freed_at + 1);
  EXPECT_THAT(released, ElementsAre(10));
}

TEST_F(BlockCacheTest, LetsGoOfEverything) {
  for (size_t capacity : {20u, 12u, 15u}) Put(capacity);
  cache_.DropAll();
  EXPECT_THAT(released, testing::UnorderedElementsAre(20, 12, 15));
  EXPECT_EQ(cache_.bytes(), 0u);
  EXPECT_THAT(Contents(), IsEmpty());
}

}  // namespace
}  // namespace hurray
