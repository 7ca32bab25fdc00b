#include "core/str_cat.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hurray {
namespace {

TEST(StrCat, JoinsNumbersTextCharactersAndBooleans) {
  EXPECT_EQ(StrCat("axis ", uint32_t{4294967295}, ' ', int64_t{-7}, std::string(" of "),
                   std::string_view("x"), true, false),
            "axis 4294967295 -7 of xtruefalse");
}

TEST(StrCat, OfNothingIsEmpty) { EXPECT_EQ(StrCat(), ""); }

TEST(StrCat, PrintsBytesAsNumbers) { EXPECT_EQ(StrCat(uint8_t{65}, int8_t{-1}), "65-1"); }

TEST(StrCat, PrintsTheExtremesOfEveryWidth) {
  EXPECT_EQ(StrCat(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(StrCat(INT64_MIN), "-9223372036854775808");
}

TEST(StrCat, PrintsTheShortestTextOfAFloat) { EXPECT_EQ(StrCat(0.5f, ' ', 0.1), "0.5 0.1"); }

TEST(HexByte, HasTwoUpperCaseDigits) {
  EXPECT_EQ(HexByte(0), "0x00");
  EXPECT_EQ(HexByte(0x0C), "0x0C");
  EXPECT_EQ(HexByte(0xFF), "0xFF");
}

TEST(JoinInBrackets, ShowsAList) {
  std::vector<int64_t> strides{-4, 1};
  EXPECT_EQ(JoinInBrackets(std::span<const int64_t>(strides)), "[-4, 1]");
  EXPECT_EQ(JoinInBrackets(std::span<const int64_t>()), "[]");
}

}  // namespace
}  // namespace hurray
