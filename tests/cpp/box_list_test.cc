#include "core/box_list.h"

#include <random>

#include "testing.h"

namespace hurray {
namespace {

using Numbers = std::vector<uint64_t>;

struct Box {
  Numbers offset, extents;
};

BoxList ListOf(const std::vector<Box>& boxes, size_t rank) {
  BoxList list(rank);
  for (const Box& box : boxes) list.Add(box.offset, box.extents);
  return list;
}

// The definition, pair by pair.
bool Overlap(const Box& a, const Box& b) {
  for (size_t k = 0; k < a.offset.size(); ++k) {
    if (!(a.offset[k] < b.offset[k] + b.extents[k]) ||
        !(b.offset[k] < a.offset[k] + a.extents[k])) {
      return false;
    }
  }
  return true;
}

bool AnyOverlap(const std::vector<Box>& boxes) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t j = i + 1; j < boxes.size(); ++j) {
      if (Overlap(boxes[i], boxes[j])) return true;
    }
  }
  return false;
}

TEST(BoxList, AgreesWithTheDefinitionOnRandomBoxes) {
  std::mt19937 random(5);
  auto number = [&](uint64_t low, uint64_t high) {
    return std::uniform_int_distribution<uint64_t>(low, high)(random);
  };
  int overlapping = 0;
  for (int round = 0; round < 1000; ++round) {
    size_t rank = number(0, 3);
    uint64_t space = number(4, 60);
    std::vector<Box> boxes(number(0, 60));
    for (Box& box : boxes) {
      for (size_t k = 0; k < rank; ++k) {
        box.offset.push_back(number(0, space));
        box.extents.push_back(number(0, round % 3 == 0 ? 8 : 1));  // often empty
      }
    }
    auto found = ListOf(boxes, rank).FindOverlap();
    ASSERT_EQ(found.has_value(), AnyOverlap(boxes));
    if (found) {
      ++overlapping;
      EXPECT_LT(found->first, found->second);
      EXPECT_TRUE(Overlap(boxes[found->first], boxes[found->second]));
    }
  }
  EXPECT_GT(overlapping, 200);
  EXPECT_LT(overlapping, 950);
}

// Cuts a box in two until there are `count`, in random order.
std::vector<Box> CutUp(size_t rank, size_t count, std::mt19937& random) {
  std::vector<Box> boxes{{Numbers(rank, 0), Numbers(rank, uint64_t{1} << 40)}};
  while (boxes.size() < count) {
    size_t which = random() % boxes.size(), k = random() % rank;
    Box& low = boxes[which];
    if (low.extents[k] < 2) continue;
    uint64_t cut = 1 + random() % (low.extents[k] - 1);
    Box high = low;
    high.offset[k] += cut;
    high.extents[k] -= cut;
    low.extents[k] = cut;
    boxes.push_back(high);
  }
  std::shuffle(boxes.begin(), boxes.end(), random);
  return boxes;
}

TEST(BoxList, FindsTheOneOverlapAmongManyCuts) {
  std::mt19937 random(6);
  for (size_t rank = 1; rank <= 4; ++rank) {
    std::vector<Box> boxes = CutUp(rank, 120, random);
    EXPECT_EQ(ListOf(boxes, rank).FindOverlap(), std::nullopt);
    for (Box& box : boxes) {
      if (box.offset[0] == 0) continue;
      --box.offset[0];  // into whatever lies in front of it
      EXPECT_NE(ListOf(boxes, rank).FindOverlap(), std::nullopt);
      ++box.offset[0];
    }
  }
}

TEST(BoxList, FindsNoOverlapInAPinwheel) {
  // Four bars around a square: no straight cut leaves all of them whole.
  auto wheel = [](uint64_t n) {
    std::vector<Box> boxes;
    for (uint64_t i = 0; i < n; ++i) {
      boxes.push_back({{0, i}, {2 * n, 1}});
      boxes.push_back({{2 * n + i, 0}, {1, 2 * n}});
      boxes.push_back({{n, 2 * n + i}, {2 * n, 1}});
      boxes.push_back({{i, n}, {1, 2 * n}});
      boxes.push_back({{n, n + i}, {n, 1}});
    }
    return boxes;
  };
  std::vector<Box> boxes = wheel(50);
  EXPECT_EQ(ListOf(boxes, 2).FindOverlap(), std::nullopt);
  boxes[0].extents[0] += 1;  // the bottom bar, into the right one
  EXPECT_NE(ListOf(boxes, 2).FindOverlap(), std::nullopt);
}

TEST(BoxList, HoldsWithoutDimensionsOneBoxOnly) {
  EXPECT_EQ(ListOf({{{}, {}}}, 0).FindOverlap(), std::nullopt);
  EXPECT_NE(ListOf({{{}, {}}, {{}, {}}}, 0).FindOverlap(), std::nullopt);
}

TEST(BoxList, CountsAnEmptyBoxStrictlyInsideAnother) {
  Box whole{{0, 0}, {4, 4}};
  EXPECT_NE(ListOf({whole, {{1, 2}, {2, 0}}}, 2).FindOverlap(), std::nullopt);
  EXPECT_EQ(ListOf({whole, {{0, 4}, {4, 0}}}, 2).FindOverlap(), std::nullopt);
  EXPECT_EQ(ListOf({whole, {{0, 0}, {4, 0}}}, 2).FindOverlap(), std::nullopt);
  EXPECT_EQ(ListOf({{{1, 2}, {2, 0}}, {{1, 2}, {2, 0}}}, 2).FindOverlap(), std::nullopt);
  EXPECT_NE(ListOf({{{0, 2}, {4, 0}}, {{2, 0}, {0, 4}}}, 2).FindOverlap(), std::nullopt);
}

TEST(BoxList, IsQuickForManyBoxesInAGrid) {
  // 65,536 boxes are two thousand million pairs.
  BoxList grid(2);
  for (uint64_t i = 0; i < 256; ++i) {
    for (uint64_t j = 0; j < 256; ++j) grid.Add(Numbers{3 * i, 5 * j}, Numbers{3, 5});
  }
  EXPECT_EQ(grid.FindOverlap(), std::nullopt);
  grid.Add(Numbers{301, 500}, Numbers{1, 1});
  EXPECT_NE(grid.FindOverlap(), std::nullopt);
}

TEST(BoxList, ReachesTheEndOf64Bits) {
  EXPECT_EQ(ListOf({{{0}, {UINT64_MAX - 1}}, {{UINT64_MAX - 1}, {1}}}, 1).FindOverlap(),
            std::nullopt);
}

// Nested corners, each cutting a thin strip off: every cut removes one box only.
TEST(BoxList, GivesUpOnArrangementsThatTakeTooLong) {
  constexpr uint64_t kSide = 400;
  BoxList corners(2);
  for (uint64_t i = 0; i < kSide / 2; ++i) {
    corners.Add(Numbers{i, i}, Numbers{kSide - i, 1});
    corners.Add(Numbers{i, i + 1}, Numbers{1, kSide - i - 1});
  }
  EXPECT_EQ(corners.FindOverlap(), std::nullopt);
  EXPECT_THAT([&] { corners.FindOverlap(/*max_steps=*/100000); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "more than 100000 steps"));
}

}  // namespace
}  // namespace hurray
