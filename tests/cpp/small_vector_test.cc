#include "core/small_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hurray {
namespace {

using Numbers = SmallVector<uint64_t, 4>;
using testing::ElementsAre;

static_assert(std::is_nothrow_move_constructible_v<Numbers>);
static_assert(std::is_nothrow_move_assignable_v<Numbers>);

// Lengths on both sides of what fits inside the object.
class SmallVectorOfLength : public testing::TestWithParam<size_t> {
 protected:
  static std::vector<uint64_t> Values(size_t count, uint64_t first = 10) {
    std::vector<uint64_t> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = first + i;
    return values;
  }
  static Numbers Make(size_t count, uint64_t first = 10) {
    return Numbers(std::span<const uint64_t>(Values(count, first)));
  }
  static std::vector<uint64_t> ToVector(const Numbers& numbers) {
    return {numbers.begin(), numbers.end()};
  }
};

TEST_P(SmallVectorOfLength, HoldsWhatItWasGiven) {
  Numbers numbers = Make(GetParam());
  EXPECT_EQ(numbers.size(), GetParam());
  EXPECT_EQ(numbers.empty(), GetParam() == 0);
  EXPECT_EQ(ToVector(numbers), Values(GetParam()));
}

TEST_P(SmallVectorOfLength, IsFilledWithZerosWhenMadeByLength) {
  EXPECT_EQ(ToVector(Numbers(GetParam())), std::vector<uint64_t>(GetParam(), 0));
}

TEST_P(SmallVectorOfLength, CopiesDeeply) {
  Numbers original = Make(GetParam());
  Numbers copy(original);
  EXPECT_EQ(copy, original);
  for (uint64_t& number : copy) number = 0;
  EXPECT_EQ(ToVector(original), Values(GetParam()));
}

TEST_P(SmallVectorOfLength, MovesItsNumbers) {
  Numbers original = Make(GetParam());
  Numbers moved(std::move(original));
  EXPECT_EQ(ToVector(moved), Values(GetParam()));
}

TEST_P(SmallVectorOfLength, AssignsOverEveryOtherLength) {
  for (size_t length = 0; length < 10; ++length) {
    Numbers target = Make(length, 99);
    target = Make(GetParam());
    EXPECT_EQ(ToVector(target), Values(GetParam()));
    Numbers source = Make(GetParam(), 50);
    target = source;
    EXPECT_EQ(target, source);
  }
}

TEST_P(SmallVectorOfLength, SurvivesAssignmentToItself) {
  Numbers numbers = Make(GetParam());
  const Numbers& same = numbers;
  numbers = same;
  EXPECT_EQ(ToVector(numbers), Values(GetParam()));
}

TEST_P(SmallVectorOfLength, ComparesLengthAndNumbers) {
  Numbers numbers = Make(GetParam());
  EXPECT_EQ(numbers, Make(GetParam()));
  EXPECT_FALSE(numbers == Make(GetParam() + 1));
  if (GetParam() > 0) {
    Numbers other = Make(GetParam());
    other[GetParam() - 1] = 0;
    EXPECT_FALSE(numbers == other);
  }
}

TEST_P(SmallVectorOfLength, IsOverwrittenByOneOfAnyLength) {
  for (size_t length : {0u, 1u, 4u, 5u, 9u}) {
    Numbers numbers = Make(GetParam());
    std::span<uint64_t> values = numbers.Overwrite(length);
    ASSERT_EQ(values.size(), length);
    for (uint64_t& value : values) value = 7;
    EXPECT_EQ(numbers.size(), length);
    EXPECT_EQ(ToVector(numbers), std::vector<uint64_t>(length, 7));
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, SmallVectorOfLength, testing::Values(0, 1, 4, 5, 9),
                         [](const auto& row) { return std::to_string(row.param); });

TEST(SmallVector, IsEmptyByDefault) { EXPECT_TRUE(Numbers().empty()); }

TEST(SmallVector, TakesABracedList) {
  Numbers two{7, 8}, five{1, 2, 3, 4, 5};
  EXPECT_THAT(std::vector(two.begin(), two.end()), ElementsAre(7, 8));
  EXPECT_THAT(std::vector(five.begin(), five.end()), ElementsAre(1, 2, 3, 4, 5));
}

TEST(SmallVector, KeepsShortSequencesInsideItself) {
  Numbers numbers(4);
  auto start = reinterpret_cast<const char*>(&numbers);
  auto data = reinterpret_cast<const char*>(numbers.data());
  EXPECT_TRUE(data >= start && data < start + sizeof(numbers));
}

}  // namespace
}  // namespace hurray
