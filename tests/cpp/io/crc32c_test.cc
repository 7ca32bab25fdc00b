#include "io/crc32c.h"

#include <numeric>

#include "core/utf8.h"
#include "testing.h"

namespace hurray {
namespace {

struct Known {
  const char* name;
  std::vector<uint8_t> bytes;
  uint32_t crc;
};

std::vector<uint8_t> Counting() {
  std::vector<uint8_t> bytes(32);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  return bytes;
}

class KnownCrc32c : public testing::TestWithParam<Known> {};

TEST_P(KnownCrc32c, IsComputedBothWays) {
  EXPECT_EQ(Crc32c(GetParam().bytes), GetParam().crc);
  EXPECT_EQ(Crc32cPortable(GetParam().bytes), GetParam().crc);
}

INSTANTIATE_TEST_SUITE_P(Cases, KnownCrc32c,
                         testing::Values(Known{"Empty", {}, 0},
                                         Known{"Digits", Bytes("313233343536373839"), 0xE3069283},
                                         Known{"Zeros", std::vector<uint8_t>(32, 0), 0x8A9136AA},
                                         Known{"Ones", std::vector<uint8_t>(32, 0xFF), 0x62A8AB43},
                                         Known{"Counting", Counting(), 0x46DD794E}),
                         [](const auto& row) { return row.param.name; });

TEST(Crc32c, IsTheSameBothWaysForEveryLengthAndOffset) {
  std::vector<uint8_t> bytes(20000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i * 7 + i / 3);
  std::span<const uint8_t> all(bytes);
  // Every length up to past the first threefold step, then the neighbourhoods of the others.
  for (size_t length = 0; length < 900; ++length) {
    ASSERT_EQ(Crc32c(all.subspan(length % 17, length)),
              Crc32cPortable(all.subspan(length % 17, length)))
        << length;
  }
  for (size_t center : {1152u, 6144u, 6528u, 12288u, 18432u}) {
    for (size_t length = center - 20; length < center + 20; ++length) {
      ASSERT_EQ(Crc32c(all.first(length), 77), Crc32cPortable(all.first(length), 77)) << length;
    }
  }
}

TEST(Crc32c, GoesOnWhereItStopped) {
  std::vector<uint8_t> bytes = Counting();
  std::span<const uint8_t> all(bytes);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(Crc32c(all.subspan(cut), Crc32c(all.first(cut))), Crc32c(all));
  }
}

}  // namespace
}  // namespace hurray
