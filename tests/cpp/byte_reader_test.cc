#include "core/byte_reader.h"

#include <array>
#include <cmath>

#include "guarded_bytes.h"
#include "testing.h"

namespace hurray {
namespace {

using testing::ElementsAre;

TEST(ByteReader, ReadsLittleEndianNumbersOfEveryWidth) {
  auto bytes = Bytes("01 0302 07060504 0F0E0D0C0B0A0908 FEFFFFFF FDFFFFFFFFFFFFFF");
  ByteReader in(bytes);
  EXPECT_EQ(in.ReadU8("a"), 0x01u);
  EXPECT_EQ(in.ReadU16("b"), 0x0203u);
  EXPECT_EQ(in.ReadU32("c"), 0x04050607u);
  EXPECT_EQ(in.ReadU64("d"), 0x08090A0B0C0D0E0Fu);
  EXPECT_EQ(in.ReadI32("e"), -2);
  EXPECT_EQ(in.ReadI64("f"), -3);
  EXPECT_EQ(in.remaining(), 0u);
  EXPECT_EQ(in.position(), bytes.size());
}

TEST(ByteReader, ReadsFloatsBitForBit) {
  auto bytes = Bytes("0000C03F 000000000000F8BF 010080FF 0100C07F");
  ByteReader in(bytes);
  EXPECT_EQ(in.ReadF32("a"), 1.5f);
  EXPECT_EQ(in.ReadF64("b"), -1.5);
  // A signaling NaN with a payload stays what it is.
  EXPECT_EQ(std::bit_cast<uint32_t>(in.ReadF32("c")), 0xFF800001u);
  EXPECT_TRUE(std::isnan(in.ReadF32("d")));
}

TEST(ByteReader, ReadsManyNumbersAtOnce) {
  auto bytes = Bytes("0100000000000000 FFFFFFFFFFFFFFFF");
  std::array<int64_t, 2> numbers{};
  ByteReader(bytes).ReadNumbers(std::span<int64_t>(numbers), "strides");
  EXPECT_THAT(numbers, ElementsAre(1, -1));
}

TEST(ByteReader, GivesBytesInPlace) {
  auto bytes = Bytes("00 01 02 03");
  ByteReader in(bytes);
  in.ReadU8("skipped");
  auto piece = in.ReadBytes(2, "piece");
  EXPECT_EQ(piece.data(), bytes.data() + 1);
  EXPECT_EQ(piece.size(), 2u);
  EXPECT_EQ(in.ReadBytes(0, "nothing").size(), 0u);
  EXPECT_EQ(in.remaining(), 1u);
}

TEST(ByteReader, NamesTheFieldThatIsCutShort) {
  auto bytes = Bytes("01 02 03");
  ByteReader in(bytes);
  in.ReadU8("first");
  EXPECT_THAT([&] { in.ReadU32("rank"); },
              ThrowsCode(ErrorCode::kInvalidDescriptor,
                         "truncated: rank needs 4 bytes at byte 1, 2 are left"));
  EXPECT_EQ(in.position(), 1u);
}

TEST(ByteReader, ThrowsTheCodeItWasOpenedWith) {
  ByteReader in({}, ErrorCode::kFile);
  EXPECT_EQ(in.code(), ErrorCode::kFile);
  EXPECT_THAT([&] { in.ReadU8("magic"); }, ThrowsCode(ErrorCode::kFile));
  EXPECT_THAT([&] { in.ReadReserved(1, "reserved"); }, ThrowsCode(ErrorCode::kFile));
}

TEST(ByteReader, RefusesACountThatExceedsWhatIsLeft) {
  auto bytes = Bytes("01 02");
  ByteReader in(bytes);
  EXPECT_THAT([&] { in.ReadBytes(UINT64_MAX, "data"); }, ThrowsCode(ErrorCode::kInvalidDescriptor));
  in.ReadU8("first");
  // Position plus count would wrap to 0.
  EXPECT_THAT([&] { in.ReadBytes(UINT64_MAX, "data"); }, ThrowsCode(ErrorCode::kInvalidDescriptor));
  EXPECT_EQ(in.remaining(), 1u);
}

TEST(ByteReader, AcceptsReservedBytesOnlyIfTheyAreZero) {
  auto zeros = Bytes("00 00 00");
  ByteReader in(zeros);
  in.ReadReserved(3, "reserved");
  EXPECT_EQ(in.remaining(), 0u);
  auto last_set = Bytes("00 00 80");
  EXPECT_THAT([&] { ByteReader(last_set).ReadReserved(3, "reserved"); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "0x80"));
}

TEST(ByteReader, NeverReadsPastItsEnd) {
  std::vector<uint8_t> bytes(16, 0);
  ForEveryShorterInput(bytes, [](std::span<const uint8_t> input) {
    std::array<uint64_t, 2> numbers{};
    EXPECT_THAT([&] { ByteReader(input).ReadNumbers(std::span<uint64_t>(numbers), "numbers"); },
                ThrowsCode(ErrorCode::kInvalidDescriptor));
    EXPECT_THAT([&] { ByteReader(input).ReadReserved(16, "reserved"); },
                ThrowsCode(ErrorCode::kInvalidDescriptor));
    ByteReader in(input);
    size_t read = 0;
    try {
      for (;; ++read) in.ReadU8("byte");
    } catch (const Error&) {
    }
    EXPECT_EQ(read, input.size());
  });
}

TEST(ByteReader, LoadsFromAnyAddress) {
  auto bytes = Bytes("FF 0807060504030201");
  EXPECT_EQ(ByteReader::Load<uint64_t>(bytes.data() + 1), 0x0102030405060708u);
}

}  // namespace
}  // namespace hurray
