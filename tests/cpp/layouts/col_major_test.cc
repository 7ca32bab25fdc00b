#include "core/layouts/col_major.h"

#include "testing.h"

namespace hurray {
namespace {

TEST(ColMajorLayout, NumbersElementsWithTheFirstDimensionFastest) {
  std::vector<uint64_t> shape{2, 3, 4};
  int64_t expected = 0;
  for (uint64_t k = 0; k < 4; ++k) {
    for (uint64_t j = 0; j < 3; ++j) {
      for (uint64_t i = 0; i < 2; ++i) {
        std::vector<uint64_t> index{i, j, k};
        EXPECT_EQ(ColMajorLayout::ElementOffset(shape, index, {}), expected++);
      }
    }
  }
}

TEST(ColMajorLayout, HasNoPayloadAndOneBuffer) {
  ColMajorLayout layout;
  EXPECT_EQ(layout.tag(), 0x02);
  EXPECT_EQ(layout.encoded_size(), 0u);
  EXPECT_EQ(layout.buffer_count(), 1u);
}

}  // namespace
}  // namespace hurray
