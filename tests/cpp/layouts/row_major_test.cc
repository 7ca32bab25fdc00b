#include "core/layouts/row_major.h"

#include "testing.h"

namespace hurray {
namespace {

TEST(RowMajorLayout, NumbersElementsWithTheLastDimensionFastest) {
  std::vector<uint64_t> shape{2, 3, 4};
  int64_t expected = 0;
  for (uint64_t i = 0; i < 2; ++i) {
    for (uint64_t j = 0; j < 3; ++j) {
      for (uint64_t k = 0; k < 4; ++k) {
        std::vector<uint64_t> index{i, j, k};
        EXPECT_EQ(RowMajorLayout::ElementOffset(shape, index, {}), expected++);
      }
    }
  }
}

TEST(RowMajorLayout, HasNoPayloadAndOneBuffer) {
  RowMajorLayout layout;
  EXPECT_EQ(layout.tag(), 0x01);
  EXPECT_EQ(layout.encoded_size(), 0u);
  EXPECT_EQ(layout.buffer_count(), 1u);
  EXPECT_EQ(layout.BufferRole(0), "data");
  EXPECT_EQ(layout, RowMajorLayout{});
}

TEST(RowMajorLayout, DescribesEveryRank) {
  EXPECT_NO_THROW(RowMajorLayout::CheckShape({}));
  EXPECT_NO_THROW(RowMajorLayout::CheckShape(std::vector<uint64_t>(64, 1)));
}

}  // namespace
}  // namespace hurray
