#include "core/small_float.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "testing.h"

namespace hurray {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A 16-bit format as its definition has it.
struct Format {
  std::string name;
  int exponent_bits;
  int mantissa_bits;
  uint16_t (*from_double)(double) noexcept;

  uint16_t infinity() const {
    return static_cast<uint16_t>(((1u << exponent_bits) - 1) << mantissa_bits);
  }
  // REQUIRES: bits are those of a finite value, or of infinity, which takes the next value.
  double ValueOf(uint16_t bits) const {
    int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
    int mantissa = bits & ((1 << mantissa_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1;
    double magnitude = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                     : std::ldexp(mantissa + (1 << mantissa_bits),
                                                  exponent - bias - mantissa_bits);
    return bits >> 15 != 0 ? -magnitude : magnitude;
  }
};

class SmallFloat : public testing::TestWithParam<Format> {};

TEST_P(SmallFloat, KeepsEveryValueItHas) {
  const Format& format = GetParam();
  for (uint16_t bits = 0; bits < format.infinity(); ++bits) {
    auto negative = static_cast<uint16_t>(bits | 0x8000);
    ASSERT_EQ(format.from_double(format.ValueOf(bits)), bits);
    ASSERT_EQ(format.from_double(format.ValueOf(negative)), negative);
  }
}

TEST_P(SmallFloat, RoundsToTheNearestAndTiesToEven) {
  const Format& format = GetParam();
  for (uint16_t bits = 0; bits < format.infinity(); ++bits) {
    auto next = static_cast<uint16_t>(bits + 1);
    double middle = (format.ValueOf(bits) + format.ValueOf(next)) / 2;
    for (double sign : {1.0, -1.0}) {
      uint16_t sign_bit = sign < 0 ? 0x8000 : 0;
      auto rounded = [&](double value) { return format.from_double(sign * value) & 0xFFFF; };
      ASSERT_EQ(rounded(middle), sign_bit | (bits % 2 == 0 ? bits : next));
      ASSERT_EQ(rounded(std::nextafter(middle, 0)), sign_bit | bits);
      ASSERT_EQ(rounded(std::nextafter(middle, kInfinity)), sign_bit | next);
    }
  }
}

TEST_P(SmallFloat, IsInfiniteBeyondItsLargestValue) {
  const Format& format = GetParam();
  for (double value : {kInfinity, std::numeric_limits<double>::max(),
                       2 * format.ValueOf(static_cast<uint16_t>(format.infinity() - 1))}) {
    EXPECT_EQ(format.from_double(value), format.infinity());
    EXPECT_EQ(format.from_double(-value), format.infinity() | 0x8000);
  }
}

TEST_P(SmallFloat, IsZeroFarBelowItsSmallestValue) {
  const Format& format = GetParam();
  for (double value : {0.0, std::numeric_limits<double>::denorm_min(),
                       std::numeric_limits<double>::min(), format.ValueOf(1) / 4}) {
    EXPECT_EQ(format.from_double(value), 0);
    EXPECT_EQ(format.from_double(-value), 0x8000);
  }
}

TEST_P(SmallFloat, KeepsNanQuiet) {
  const Format& format = GetParam();
  for (uint64_t bits : {0x7FF0000000000001u, 0x7FF8000000000000u, 0x7FFFFFFFFFFFFFFFu}) {
    uint16_t rounded = format.from_double(std::bit_cast<double>(bits));
    EXPECT_GT(rounded & 0x7FFF, format.infinity());
    EXPECT_NE(rounded & 1 << (format.mantissa_bits - 1), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloat,
                         testing::Values(Format{"Float16", 5, 10, Float16FromDouble},
                                         Format{"Bfloat16", 8, 7, Bfloat16FromDouble}),
                         [](const auto& row) { return row.param.name; });

TEST(RoundToOdd, KeepsWhatADoubleCanHold) {
  constexpr int64_t kLimit = int64_t{1} << 53;
  for (int64_t value : {int64_t{0}, int64_t{1}, int64_t{-7}, kLimit, -kLimit, kLimit - 1,
                        kLimit + 2, INT64_MIN, int64_t{1} << 62}) {
    EXPECT_EQ(RoundToOdd(value), static_cast<double>(value));
  }
}

TEST(RoundToOdd, LeavesTheLastBitSetOtherwise) {
  for (int64_t value : {INT64_MAX, INT64_MIN + 1, (int64_t{1} << 53) + 1, (int64_t{1} << 60) + 1,
                        (int64_t{1} << 60) + 1023, -(int64_t{1} << 60) - 129}) {
    double rounded = RoundToOdd(value);
    EXPECT_EQ(std::bit_cast<uint64_t>(rounded) % 2, 1u) << value;
    // It is one of the two neighbours.
    double below = std::nextafter(rounded, -kInfinity), above = std::nextafter(rounded, kInfinity);
    EXPECT_LT(static_cast<__int128>(below), static_cast<__int128>(value));
    EXPECT_GT(static_cast<__int128>(above), static_cast<__int128>(value));
  }
}

TEST(RoundToOdd, PreventsRoundingTwice) {
  // A tie of bfloat16, broken by a bit that a double cannot hold beside it.
  int64_t value = (int64_t{1} << 60) + (int64_t{1} << 52) + 1;
  EXPECT_EQ(Bfloat16FromDouble(static_cast<double>(value)), 0x5D80);
  EXPECT_EQ(Bfloat16FromDouble(RoundToOdd(value)), 0x5D81);
}

TEST(RoundToOdd, TakesTheSideOfALongerInteger) {
  double even = std::ldexp(1, 100);
  EXPECT_EQ(RoundToOdd(even, 0), even);
  EXPECT_EQ(RoundToOdd(even, 1), std::nextafter(even, kInfinity));
  EXPECT_EQ(RoundToOdd(even, -1), std::nextafter(even, 0));
  double odd = std::nextafter(even, kInfinity);
  EXPECT_EQ(RoundToOdd(odd, 1), odd);
  EXPECT_EQ(RoundToOdd(odd, -1), odd);
}

}  // namespace

}  // namespace hurray
