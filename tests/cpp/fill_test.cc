#include "core/fill.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/packing.h"
#include "testing.h"

namespace hurray {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<ElementType> ArithmeticTypes() {
  std::vector<ElementType> types;
  for (const ElementTypeInfo& info : NamedElementTypes()) {
    ElementType type = ElementType::FromTag(info.tag);
    if (HasArithmetic(type)) types.push_back(type);
  }
  return types;
}

// Room for `count` elements, filled with what must not be left over.
std::vector<uint8_t> RoomFor(ElementType type, uint64_t count) {
  return std::vector<uint8_t>(static_cast<size_t>(*Packing::Of(type).SizeBytes(count)), 0xEE);
}

template <typename T>
std::vector<T> Read(const std::vector<uint8_t>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <typename T>
std::vector<T> Integers(ElementType type, int64_t start, int64_t step, uint64_t count) {
  auto out = RoomFor(type, count);
  FillIntegers(out, type, static_cast<uint64_t>(start), static_cast<uint64_t>(step), count);
  return Read<T>(out);
}

template <typename T>
std::vector<T> Reals(ElementType type, double start, double step, uint64_t count) {
  auto out = RoomFor(type, count);
  FillReals(out, type, start, step, count);
  return Read<T>(out);
}

template <typename T>
std::vector<T> Interval(ElementType type, double start, double stop, uint64_t count,
                        bool endpoint = true) {
  auto out = RoomFor(type, count);
  FillInterval(out, type, start, stop, count, endpoint);
  return Read<T>(out);
}

std::vector<uint8_t> BytesOf(const Element& element) {
  return {element.bytes.begin(), element.bytes.begin() + static_cast<ptrdiff_t>(element.size)};
}

TEST(HasArithmetic, IsTierOneAndComplex) {
  EXPECT_EQ(ArithmeticTypes().size(), 15u);
  EXPECT_TRUE(HasArithmetic(ElementTypes::kBool));
  EXPECT_TRUE(HasArithmetic(ElementTypes::kBfloat16));
  EXPECT_TRUE(HasArithmetic(ElementTypes::kComplex64));
  EXPECT_FALSE(HasArithmetic(ElementTypes::kInt4));
  EXPECT_FALSE(HasArithmetic(ElementTypes::kFloat8E4M3));
  EXPECT_FALSE(HasArithmetic(ElementTypes::kFloat128));
  EXPECT_FALSE(HasArithmetic(ElementType::FromTag(0xF0)));
}

// ---- one element

TEST(Element, IsAsLongAsItsTypeSays) {
  for (ElementType type : ArithmeticTypes()) {
    Element one = ElementFromInteger(type, int64_t{1});
    EXPECT_EQ(one.size, *Packing::Of(type).SizeBytes(1)) << type.name();
    EXPECT_FALSE(one.is_zero());
    EXPECT_TRUE(ElementFromInteger(type, int64_t{0}).is_zero());
  }
}

TEST(Element, OfMinusZeroIsNotZero) {
  EXPECT_FALSE(ElementFromReal(ElementTypes::kFloat64, -0.0).is_zero());
  EXPECT_FALSE(ElementFromReal(ElementTypes::kFloat16, -0.0).is_zero());
}

struct Range {
  ElementType type;
  int64_t lowest;
  int64_t highest;
};

class IntegerElement : public testing::TestWithParam<Range> {};

TEST_P(IntegerElement, HoldsItsRangeAndNoMore) {
  const Range& r = GetParam();
  auto refuses = [&](auto make) {
    EXPECT_THAT(make, ThrowsCode(ErrorCode::kOverflow, std::string(r.type.name())));
  };
  EXPECT_NO_THROW(ElementFromInteger(r.type, r.lowest));
  EXPECT_NO_THROW(ElementFromInteger(r.type, r.highest));
  refuses([&] { ElementFromInteger(r.type, r.lowest - 1); });
  refuses([&] { ElementFromInteger(r.type, r.highest + 1); });
  refuses([&] { ElementFromInteger(r.type, UINT64_MAX); });

  EXPECT_EQ(BytesOf(ElementFromReal(r.type, static_cast<double>(r.lowest) - 0.75)),
            BytesOf(ElementFromInteger(r.type, r.lowest)));
  EXPECT_EQ(BytesOf(ElementFromReal(r.type, static_cast<double>(r.highest) + 0.75)),
            BytesOf(ElementFromInteger(r.type, r.highest)));
  refuses([&] { ElementFromReal(r.type, static_cast<double>(r.lowest) - 1); });
  refuses([&] { ElementFromReal(r.type, static_cast<double>(r.highest) + 1); });
  for (double value : {kInfinity, -kInfinity, kNan}) {
    refuses([&] { ElementFromReal(r.type, value); });
  }
}

INSTANTIATE_TEST_SUITE_P(Types, IntegerElement,
                         testing::Values(Range{ElementTypes::kInt8, INT8_MIN, INT8_MAX},
                                         Range{ElementTypes::kUint8, 0, UINT8_MAX},
                                         Range{ElementTypes::kInt16, INT16_MIN, INT16_MAX},
                                         Range{ElementTypes::kUint16, 0, UINT16_MAX},
                                         Range{ElementTypes::kInt32, INT32_MIN, INT32_MAX},
                                         Range{ElementTypes::kUint32, 0, UINT32_MAX}),
                         [](const auto& row) { return std::string(row.param.type.name()); });

TEST(Element, Of64BitsEndsWhereDoublesStopFitting) {
  double beyond = std::ldexp(1, 63);
  EXPECT_NO_THROW(ElementFromReal(ElementTypes::kInt64, -beyond));
  EXPECT_NO_THROW(ElementFromReal(ElementTypes::kInt64, std::nextafter(beyond, 0)));
  EXPECT_THAT([&] { ElementFromReal(ElementTypes::kInt64, beyond); },
              ThrowsCode(ErrorCode::kOverflow));
  EXPECT_THAT([&] { ElementFromReal(ElementTypes::kInt64, std::nextafter(-beyond, -kInfinity)); },
              ThrowsCode(ErrorCode::kOverflow));
  EXPECT_NO_THROW(ElementFromReal(ElementTypes::kUint64, beyond));
  EXPECT_NO_THROW(ElementFromReal(ElementTypes::kUint64, -0.5));
  EXPECT_THAT([&] { ElementFromReal(ElementTypes::kUint64, 2 * beyond); },
              ThrowsCode(ErrorCode::kOverflow));
  EXPECT_THAT([&] { ElementFromReal(ElementTypes::kUint64, -1); },
              ThrowsCode(ErrorCode::kOverflow));
  EXPECT_THAT([&] { ElementFromInteger(ElementTypes::kInt64, UINT64_MAX); },
              ThrowsCode(ErrorCode::kOverflow));
  EXPECT_THAT([&] { ElementFromInteger(ElementTypes::kUint64, int64_t{-1}); },
              ThrowsCode(ErrorCode::kOverflow));
  EXPECT_EQ(BytesOf(ElementFromInteger(ElementTypes::kUint64, UINT64_MAX)),
            Bytes("FFFFFFFF FFFFFFFF"));
}

TEST(Element, OfFloatIsInfiniteBeyondItsRange) {
  EXPECT_EQ(BytesOf(ElementFromReal(ElementTypes::kFloat32, 1e300)), Bytes("00 00 80 7F"));
  EXPECT_EQ(BytesOf(ElementFromReal(ElementTypes::kFloat16, -1e300)), Bytes("00 FC"));
  EXPECT_EQ(BytesOf(ElementFromInteger(ElementTypes::kFloat16, INT64_MAX)), Bytes("00 7C"));
  EXPECT_EQ(BytesOf(ElementFromInteger(ElementTypes::kFloat16, UINT64_MAX)), Bytes("00 7C"));
}

TEST(Element, OfFloatRoundsIntegersOnce) {
  int64_t broken_tie = (int64_t{1} << 60) + (int64_t{1} << 52) + 1;
  EXPECT_EQ(BytesOf(ElementFromInteger(ElementTypes::kBfloat16, broken_tie)), Bytes("81 5D"));
  uint64_t longer = (uint64_t{1} << 63) + (uint64_t{1} << 55) + 1;
  EXPECT_EQ(BytesOf(ElementFromInteger(ElementTypes::kBfloat16, longer)), Bytes("01 5F"));
  EXPECT_EQ(BytesOf(ElementFromInteger(ElementTypes::kBfloat16, longer - 1)), Bytes("00 5F"));
}

TEST(Element, OfComplexHasBothParts) {
  EXPECT_EQ(Read<float>(BytesOf(ElementFromComplex(ElementTypes::kComplex64, {1.5, -2.5}))),
            (std::vector<float>{1.5, -2.5}));
  EXPECT_EQ(Read<double>(BytesOf(ElementFromComplex(ElementTypes::kComplex128, {1.5, -2.5}))),
            (std::vector<double>{1.5, -2.5}));
  EXPECT_EQ(Read<double>(BytesOf(ElementFromReal(ElementTypes::kComplex128, 3))),
            (std::vector<double>{3, 0}));
  EXPECT_EQ(Read<float>(BytesOf(ElementFromInteger(ElementTypes::kComplex64, int64_t{-3}))),
            (std::vector<float>{-3, 0}));
}

// ---- one value

TEST(FillElements, RepeatsTheElement) {
  for (ElementType type : ArithmeticTypes()) {
    if (type == ElementTypes::kBool) continue;
    Element element = ElementFromInteger(type, int64_t{5});
    for (uint64_t count : {0, 1, 3, 255, 256, 257, 4097, 10000}) {
      auto out = RoomFor(type, count);
      FillElements(out, type, element, count);
      for (size_t i = 0; i < out.size(); ++i) {
        ASSERT_EQ(out[i], element.bytes[i % element.size]) << type.name() << " byte " << i;
      }
    }
  }
}

TEST(FillElements, LeavesPaddingBitsZero) {
  Element one = ElementFromInteger(ElementTypes::kBool, int64_t{1});
  Element zero = ElementFromInteger(ElementTypes::kBool, int64_t{0});
  for (uint64_t count : {0, 1, 7, 8, 9, 16, 1000}) {
    auto out = RoomFor(ElementTypes::kBool, count);
    FillElements(out, ElementTypes::kBool, one, count);
    for (uint64_t i = 0; i < 8 * out.size(); ++i) {
      ASSERT_EQ(out[i / 8] >> i % 8 & 1, i < count ? 1 : 0);
    }
    FillElements(out, ElementTypes::kBool, zero, count);
    EXPECT_EQ(out, std::vector<uint8_t>(out.size()));
  }
}

// ---- integers

TEST(FillIntegers, CountsUpAndDown) {
  EXPECT_EQ(Integers<int32_t>(ElementTypes::kInt32, -2, 3, 4), (std::vector{-2, 1, 4, 7}));
  EXPECT_EQ(Integers<uint8_t>(ElementTypes::kUint8, 255, -255, 2), (std::vector<uint8_t>{255, 0}));
  EXPECT_EQ(Integers<float>(ElementTypes::kFloat32, 3, -2, 3), (std::vector<float>{3, 1, -1}));
  EXPECT_EQ(Integers<double>(ElementTypes::kComplex128, 0, 1, 2),
            (std::vector<double>{0, 0, 1, 0}));
  EXPECT_TRUE(Integers<int64_t>(ElementTypes::kInt64, 5, 1, 0).empty());
}

TEST(FillIntegers, ReachesBothEndsOf64Bits) {
  EXPECT_EQ(Integers<int64_t>(ElementTypes::kInt64, INT64_MIN, INT64_MAX, 3),
            (std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
  auto out = RoomFor(ElementTypes::kUint64, 3);
  FillIntegers(out, ElementTypes::kUint64, UINT64_MAX, 0 - (uint64_t{1} << 63), 2);
  EXPECT_EQ(Read<uint64_t>(out)[1], (uint64_t{1} << 63) - 1);
}

TEST(FillIntegers, IsExactWhereDoublesAreNot) {
  int64_t start = (int64_t{1} << 53) + 1;
  EXPECT_EQ(Integers<int64_t>(ElementTypes::kInt64, start, 1, 3),
            (std::vector<int64_t>{start, start + 1, start + 2}));
}

TEST(FillIntegers, WritesNothingWhenAnEndDoesNotFit) {
  auto out = RoomFor(ElementTypes::kInt8, 300);
  auto untouched = out;
  EXPECT_THAT([&] { FillIntegers(out, ElementTypes::kInt8, 0, 1, 300); },
              ThrowsCode(ErrorCode::kOverflow, "299"));
  EXPECT_THAT([&] { FillIntegers(out, ElementTypes::kInt8, UINT64_MAX - 299, 1, 300); },
              ThrowsCode(ErrorCode::kOverflow, "-300"));
  EXPECT_EQ(out, untouched);
}

TEST(FillIntegers, RoundsEachElementOnce) {
  EXPECT_EQ(Integers<uint16_t>(ElementTypes::kFloat16, 2049, 1, 3),
            (std::vector<uint16_t>{0x6800, 0x6801, 0x6802}));
}

// ---- reals

TEST(FillReals, MultipliesTheStep) {
  auto values = Reals<double>(ElementTypes::kFloat64, 1, 0.1, 11);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], 1 + static_cast<double>(i) * 0.1);
  }
}

TEST(FillReals, TruncatesTowardZero) {
  EXPECT_EQ(Reals<int8_t>(ElementTypes::kInt8, -1.5, 0.75, 5),
            (std::vector<int8_t>{-1, 0, 0, 0, 1}));
}

TEST(FillReals, RefusesWhatDoesNotFit) {
  EXPECT_THAT([] { Reals<uint8_t>(ElementTypes::kUint8, 250, 2, 4); },
              ThrowsCode(ErrorCode::kOverflow, "256"));
}

// ---- intervals

TEST(FillInterval, EndsExactlyAtStop) {
  for (uint64_t count = 2; count < 2000; ++count) {
    auto values = Interval<double>(ElementTypes::kFloat64, 0.1, 0.7, count);
    ASSERT_EQ(values.front(), 0.1);
    ASSERT_EQ(values.back(), 0.7);
    ASSERT_TRUE(std::is_sorted(values.begin(), values.end()));
  }
}

TEST(FillInterval, LeavesStopOutOnRequest) {
  EXPECT_EQ(Interval<double>(ElementTypes::kFloat64, 0, 1, 4, false),
            (std::vector<double>{0, 0.25, 0.5, 0.75}));
}

TEST(FillInterval, IsItsStartWhenThereIsRoomForOne) {
  EXPECT_EQ(Interval<double>(ElementTypes::kFloat64, 3, 9, 1), std::vector<double>{3});
  EXPECT_EQ(Interval<double>(ElementTypes::kFloat64, 3, 9, 1, false), std::vector<double>{3});
  EXPECT_TRUE(Interval<double>(ElementTypes::kFloat64, 3, 9, 0).empty());
  EXPECT_TRUE(Interval<double>(ElementTypes::kFloat64, 3, 9, 0, false).empty());
}

TEST(FillInterval, SpansMoreThanADoubleHolds) {
  double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(Interval<double>(ElementTypes::kFloat64, -huge, huge, 3),
            (std::vector<double>{-huge, 0, huge}));
  auto four = Interval<double>(ElementTypes::kFloat64, huge, -huge, 4);
  EXPECT_NEAR(four[1] / huge, 1.0 / 3, 1e-15);
}

TEST(FillInterval, HasStepsBelowTheSmallestDouble) {
  double tiny = std::numeric_limits<double>::denorm_min();
  // i halves of it, ties to even.
  EXPECT_EQ(Interval<double>(ElementTypes::kFloat64, 0, 4 * tiny, 9),
            (std::vector<double>{0, 0, tiny, 2 * tiny, 2 * tiny, 2 * tiny, 3 * tiny, 4 * tiny,
                                 4 * tiny}));
}

TEST(FillInterval, CarriesNonNumbersIntoFloatsOnly) {
  EXPECT_TRUE(std::isnan(Interval<double>(ElementTypes::kFloat64, kNan, 1, 3)[1]));
  EXPECT_EQ(Interval<double>(ElementTypes::kFloat64, 0, kInfinity, 2)[1], kInfinity);
  EXPECT_THAT([] { Interval<int8_t>(ElementTypes::kInt8, 0, kInfinity, 3); },
              ThrowsCode(ErrorCode::kOverflow));
}

// ---- diagonals

TEST(FillDiagonal, SetsExactlyTheDiagonal) {
  for (ElementType type : ArithmeticTypes()) {
    Element one = ElementFromInteger(type, int64_t{1});
    for (uint64_t rows : {0, 1, 3, 5}) {
      for (uint64_t columns : {0, 1, 4, 9}) {
        for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{3}, int64_t{-4},
                          int64_t{100}, INT64_MAX, INT64_MIN}) {
          std::vector<uint8_t> out(RoomFor(type, rows * columns).size());
          FillDiagonal(out, type, rows, columns, k);
          for (uint64_t i = 0; i < rows * columns; ++i) {
            bool expected =
                static_cast<__int128>(i % columns) - static_cast<__int128>(i / columns) == k;
            if (type == ElementTypes::kBool) {
              ASSERT_EQ((out[i / 8] >> i % 8 & 1) == 1, expected);
            } else {
              std::vector<uint8_t> found(&out[i * one.size], &out[i * one.size] + one.size);
              ASSERT_EQ(found, expected ? BytesOf(one) : std::vector<uint8_t>(one.size));
            }
          }
        }
      }
    }
  }
}

}  // namespace

}  // namespace hurray
