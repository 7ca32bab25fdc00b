#include "storage/pages.h"

#include <cstdint>

#include "allocator_testing.h"

namespace hurray {
namespace {

class Pages : public testing::TestWithParam<Mode> {
  SettingsForTest settings_{GetParam().settings};
};
INSTANTIATE_TEST_SUITE_P(Modes, Pages, testing::ValuesIn(kModes),
                         [](const auto& row) { return row.param.name; });

constexpr size_t kAlignment = 2 * kMiB;

TEST_P(Pages, AreMappedWhereTheyWereAskedFor) {
  size_t page = PageSize();
  size_t before = MappingCount();
  std::byte* starts[10];
  for (std::byte*& start : starts) {
    start = MapPages(3 * kMiB, page, kAlignment);
    ASSERT_NE(start, nullptr);
    EXPECT_TRUE(IsAligned(start + page, kAlignment));
    EXPECT_EQ(start[0], std::byte{0});
    EXPECT_EQ(start[3 * kMiB - 1], std::byte{0});
    start[0] = start[3 * kMiB - 1] = std::byte{1};
  }
  EXPECT_EQ(MappingCount(), before + 10);
  for (std::byte* start : starts) UnmapPages(start, 3 * kMiB);
  EXPECT_EQ(MappingCount(), before);
}

TEST_P(Pages, ReturnToTheSameAddressWhenMappedAgain) {
  if (GetParam().settings.portable) GTEST_SKIP() << "the system chooses";
  UnmapPages(MapPages(kMiB, 0, kAlignment), kMiB);
  std::byte* first = MapPages(kMiB, 0, kAlignment);
  UnmapPages(first, kMiB);
  std::byte* second = MapPages(kMiB, 0, kAlignment);
  EXPECT_EQ(first, second);
  UnmapPages(second, kMiB);
}

TEST_P(Pages, MoveWithTheirContents) {
  size_t page = PageSize();
  std::byte* start = MapPages(4 * kMiB, page, kAlignment);
  // In the way, so that it has to move.
  std::byte* behind = MapPages(page, 0, page);
  start[0] = std::byte{1};
  start[4 * kMiB - 1] = std::byte{2};
  std::byte* moved = RemapPages(start, 4 * kMiB, 64 * kMiB, page, kAlignment);
  if (GetParam().settings.portable) {
    EXPECT_EQ(moved, nullptr);
    EXPECT_EQ(start[0], std::byte{1});
    UnmapPages(start, 4 * kMiB);
  } else {
    ASSERT_NE(moved, nullptr);
    EXPECT_TRUE(IsAligned(moved + page, kAlignment));
    EXPECT_EQ(moved[0], std::byte{1});
    EXPECT_EQ(moved[4 * kMiB - 1], std::byte{2});
    EXPECT_EQ(moved[4 * kMiB], std::byte{0});
    EXPECT_EQ(moved[64 * kMiB - 1], std::byte{0});
    UnmapPages(moved, 64 * kMiB);
  }
  UnmapPages(behind, page);
}

TEST_P(Pages, ShrinkInPlace) {
  size_t page = PageSize();
  std::byte* start = MapPages(4 * kMiB, page, kAlignment);
  start[page] = std::byte{1};
  EXPECT_EQ(RemapPages(start, 4 * kMiB, kMiB, page, kAlignment), start);
  EXPECT_EQ(start[page], std::byte{1});
  UnmapPages(start, kMiB);
}

TEST_P(Pages, ReadAsZeroOnceTheyWereDropped) {
  size_t page = PageSize();
  std::byte* start = MapPages(4 * page, 0, page);
  std::memset(start, 1, 4 * page);
  ASSERT_TRUE(DropPages(start + page, 2 * page));
  EXPECT_EQ(start[page - 1], std::byte{1});
  EXPECT_EQ(start[page], std::byte{0});
  EXPECT_EQ(start[3 * page - 1], std::byte{0});
  EXPECT_EQ(start[3 * page], std::byte{1});
  UnmapPages(start, 4 * page);
}

TEST_P(Pages, AreSeenToBeThereOrNot) {
  if (GetParam().settings.portable) GTEST_SKIP() << "the system does not tell";
  size_t page = PageSize();
  std::byte* start = MapPages(2 * page, 0, page);
  start[1] = std::byte{1};
  EXPECT_EQ(IsResident(start + 100), true);
  EXPECT_EQ(IsResident(start + page + 100), false);
  UnmapPages(start, 2 * page);
}

TEST_P(Pages, AreNotMappedWhereThereAreNone) {
  EXPECT_EQ(MapPages(size_t{1} << 60, 0, kAlignment), nullptr);
  EXPECT_EQ(MapPages(SIZE_MAX - PageSize() + 1, 0, kAlignment), nullptr);
}

}  // namespace
}  // namespace hurray
