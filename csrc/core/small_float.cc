#include "core/small_float.h"

#include <bit>
#include <cmath>
#include <limits>

namespace hurray {

namespace {

constexpr int kDoubleMantissaBits = 52;
constexpr int kDoubleBias = 1023;
constexpr int kDoubleMaxExponent = 2047;

template <int kExponentBits, int kMantissaBits>
uint16_t Round(double value) noexcept {
  static_assert(1 + kExponentBits + kMantissaBits == 16);
  constexpr uint64_t kInfinity = ((uint64_t{1} << kExponentBits) - 1) << kMantissaBits;
  constexpr uint64_t kQuietBit = uint64_t{1} << (kMantissaBits - 1);
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;

  auto bits = std::bit_cast<uint64_t>(value);
  uint64_t sign = bits >> 63 << 15;
  auto exponent = static_cast<int>(bits >> kDoubleMantissaBits & kDoubleMaxExponent);
  uint64_t mantissa = bits & ((uint64_t{1} << kDoubleMantissaBits) - 1);
  if (exponent == kDoubleMaxExponent) {
    return static_cast<uint16_t>(sign | kInfinity | (mantissa != 0 ? kQuietBit : 0));
  }
  // A subnormal double is far below half of our smallest; the hidden bit it lacks is no matter.
  uint64_t significand = mantissa | uint64_t{1} << kDoubleMantissaBits;
  int target = exponent - kDoubleBias + kBias;
  int shift = kDoubleMantissaBits - kMantissaBits;
  if (target <= 0) {  // subnormal here: the exponent stays, bits are shifted out instead
    shift += 1 - target;
    target = 1;
  }
  if (shift > kDoubleMantissaBits + 1) return static_cast<uint16_t>(sign);
  uint64_t quotient = significand >> shift;
  uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  uint64_t half = uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && quotient % 2 == 1)) ++quotient;
  // The hidden bit of a normal value adds 1 to the exponent, and so does a carry out of rounding.
  uint64_t rounded = quotient + (static_cast<uint64_t>(target - 1) << kMantissaBits);
  return static_cast<uint16_t>(sign | (rounded < kInfinity ? rounded : kInfinity));
}

}  // namespace

uint16_t Float16FromDouble(double value) noexcept { return Round<5, 10>(value); }
uint16_t Bfloat16FromDouble(double value) noexcept { return Round<8, 7>(value); }

double RoundToOdd(int64_t value) noexcept {
  auto nearest = static_cast<double>(value);
  auto difference = static_cast<__int128>(value) - static_cast<__int128>(nearest);
  return RoundToOdd(nearest, difference < 0 ? -1 : difference > 0);
}

double RoundToOdd(double nearest, int side) noexcept {
  bool is_odd = std::bit_cast<uint64_t>(nearest) % 2 == 1;
  if (side == 0 || is_odd) return nearest;
  double infinity = std::numeric_limits<double>::infinity();
  return std::nextafter(nearest, side < 0 ? -infinity : infinity);
}

}  // namespace hurray
