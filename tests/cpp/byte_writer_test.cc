#include "core/byte_writer.h"

#include <cmath>
#include <limits>

#include "core/byte_reader.h"
#include "testing.h"

namespace hurray {
namespace {

TEST(ByteWriter, WritesLittleEndianNumbersOfEveryWidth) {
  std::vector<uint8_t> out(1 + 2 + 4 + 8 + 4 + 8 + 4 + 8);
  ByteWriter writer(out);
  writer.WriteU8(0x01);
  writer.WriteU16(0x0203);
  writer.WriteU32(0x04050607);
  writer.WriteU64(0x08090A0B0C0D0E0F);
  writer.WriteI32(-2);
  writer.WriteI64(-3);
  writer.WriteF32(1.5f);
  writer.WriteF64(-1.5);
  EXPECT_EQ(writer.remaining(), 0u);
  EXPECT_EQ(out, Bytes("01 0302 07060504 0F0E0D0C0B0A0908 FEFFFFFF FDFFFFFFFFFFFFFF 0000C03F "
                       "000000000000F8BF"));
}

TEST(ByteWriter, WritesBytesZerosAndLists) {
  std::vector<uint8_t> out(24, 0xEE);
  ByteWriter writer(out);
  writer.WriteBytes(Bytes("AA BB"));
  writer.WriteBytes({});
  writer.WriteZeros(6);
  std::vector<int64_t> numbers{1, -1};
  writer.WriteNumbers(std::span<const int64_t>(numbers));
  EXPECT_EQ(writer.position(), 24u);
  EXPECT_EQ(out, Bytes("AABB000000000000 0100000000000000 FFFFFFFFFFFFFFFF"));
}

TEST(ByteWriter, IsUndoneByByteReader) {
  std::vector<uint8_t> out(12);
  ByteWriter writer(out);
  writer.WriteF32(-0.0f);
  writer.WriteF64(std::numeric_limits<double>::denorm_min());
  ByteReader in(out);
  EXPECT_TRUE(std::signbit(in.ReadF32("zero")));
  EXPECT_EQ(in.ReadF64("smallest"), std::numeric_limits<double>::denorm_min());
}

}  // namespace
}  // namespace hurray
