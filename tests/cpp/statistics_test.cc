#include "core/statistics.h"

#include <cmath>
#include <limits>
#include <string>

#include "guarded_bytes.h"
#include "testing.h"

namespace hurray {
namespace {

constexpr uint32_t kAll = 63;

Statistics Example() {
  Statistics out;
  out.computed_mask = kAll;
  out.nnz = 7;
  out.sparsity_ratio = 0.25;
  out.value_min = -1;
  out.value_max = std::numeric_limits<double>::infinity();
  out.value_abs_max = 3;
  out.value_mean = 0.5;
  out.value_stddev = 2;
  out.nm_n = 2;
  out.nm_m = 4;
  out.has_nan = 0;
  out.has_inf = 1;
  return out;
}

std::vector<uint8_t> Encoded(const Statistics& statistics) {
  std::vector<uint8_t> bytes(Statistics::kEncodedSize, 0xEE);
  ByteWriter out(bytes);
  statistics.Encode(out);
  return bytes;
}

Statistics Decoded(std::span<const uint8_t> bytes) {
  ByteReader in(bytes);
  return Statistics::Decode(in);
}

TEST(Statistics, HasTheOffsetsOfTheFormat) {
  EXPECT_EQ(Encoded(Example()),
            Bytes("3F000000 00000000 0700000000000000 000000000000D03F 000000000000F0BF "
                  "000000000000F07F 0000000000000840 000000000000E03F 0000000000000040 "
                  "02 04 00 01 00000000"));
}

TEST(Statistics, KeepsEveryField) {
  Statistics decoded = Decoded(Encoded(Example()));
  EXPECT_EQ(decoded, Example());
  EXPECT_TRUE(decoded.claims(Statistics::kNm));
}

struct Broken {
  std::string name;
  size_t at;
  uint8_t byte;
};

class BrokenStatistics : public testing::TestWithParam<Broken> {};

TEST_P(BrokenStatistics, IsRejected) {
  auto bytes = Encoded(Example());
  bytes[GetParam().at] = GetParam().byte;
  EXPECT_THAT([&] { Decoded(bytes); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "statistics"));
}

INSTANTIATE_TEST_SUITE_P(Rules, BrokenStatistics,
                         testing::Values(Broken{"MaskBit6", 0, 0x40}, Broken{"MaskBit8", 1, 1},
                                         Broken{"MaskBit31", 3, 0x80}, Broken{"ReservedAt4", 4, 1},
                                         Broken{"ReservedAt7", 7, 1}, Broken{"ReservedAt68", 68, 1},
                                         Broken{"ReservedAt71", 71, 0x80}, Broken{"HasNan2", 66, 2},
                                         Broken{"HasInf255", 67, 255}),
                         [](const auto& row) { return row.param.name; });

TEST(Statistics, KeepsWhatItDoesNotClaim) {
  auto bytes = Encoded(Example());
  bytes[0] = Statistics::kNnz;
  bytes[66] = 200;  // has_nan, of which nothing is claimed
  EXPECT_EQ(Encoded(Decoded(bytes)), bytes);
}

TEST(Statistics, HasNoRangeRules) {
  Statistics odd = Example();
  odd.sparsity_ratio = -3;
  odd.value_stddev = -1;
  odd.nm_n = 200;
  EXPECT_EQ(Decoded(Encoded(odd)), odd);
}

TEST(Statistics, ComparesOnlyWhatIsClaimed) {
  Statistics a = Example(), b = Example();
  b.nnz = 8;
  EXPECT_FALSE(a == b);
  a.computed_mask = b.computed_mask = kAll & ~Statistics::kNnz;
  EXPECT_EQ(a, b);
  b.computed_mask = Statistics::kRange;
  EXPECT_FALSE(a == b);
}

TEST(Statistics, TreatsANanAsEqualToItself) {
  Statistics a = Example();
  a.value_mean = std::nan("");
  EXPECT_EQ(a, Decoded(Encoded(a)));
  Statistics b = a;
  b.value_mean = -a.value_mean;
  EXPECT_FALSE(a == b);
}

TEST(Statistics, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(Encoded(Example()), [](std::span<const uint8_t> input) {
    EXPECT_THAT([&] { Decoded(input); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "truncated"));
  });
}

}  // namespace
}  // namespace hurray
