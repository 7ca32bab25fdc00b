#include "io/verify.h"

#include "io/io_testing.h"

namespace hurray {
namespace {

class VerifiedFile : public testing::Test {
 protected:
  VerifyReport Verify(std::span<const uint8_t> bytes) {
    WriteWholeFile(folder_ / "file", bytes);
    Checkpoint checkpoint;
    return VerifyFile(folder_ / "file", checkpoint);
  }
  TemporaryFolder folder_;
};

TEST_F(VerifiedFile, WithoutFaultHasNoProblems) {
  VerifyReport report = Verify(FileBytes(SampleItems(), SampleMetadata()));
  EXPECT_EQ(report.tensor_count, SampleItems().size());
  EXPECT_TRUE(report.problems.empty());
}

TEST_F(VerifiedFile, ThatIsNoneHasOneProblem) {
  VerifyReport report = Verify(Pattern(200));
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_FALSE(report.problems[0].name);
  EXPECT_EQ(report.problems[0].rule, "container");
  EXPECT_EQ(report.problems[0].code, ErrorCode::kFile);
}

TEST_F(VerifiedFile, IsReadOnAfterABrokenTensor) {
  auto bytes = FileBytes({{"a", Filled(Dense(ElementTypes::kInt8, {3}))},
                          {"b", Filled(Dense(ElementTypes::kInt8, {3}))},
                          {"c", Filled(Dense(ElementTypes::kInt8, {3}))}},
                         SampleMetadata());
  bytes[64 + 10] = 0x20;        // flags of the first descriptor
  bytes[4096 + 8 + 10] = 0x20;  // and of the second
  VerifyReport report = Verify(bytes);
  EXPECT_EQ(report.tensor_count, 3u);
  ASSERT_EQ(report.problems.size(), 2u);
  EXPECT_EQ(report.problems[0].name, "a");
  EXPECT_EQ(report.problems[1].name, "b");
  EXPECT_EQ(report.problems[1].rule, "tensor");
  EXPECT_EQ(report.problems[1].code, ErrorCode::kInvalidDescriptor);
}

TEST_F(VerifiedFile, IsReadOnAfterABrokenTensorWithoutData) {
  auto bytes = FileBytes({{"a", Filled(Dense(ElementTypes::kInt8, {0}))},
                          {"b", Filled(Dense(ElementTypes::kInt8, {3}))}},
                         {});
  bytes[64 + 10] = 0x20;  // flags
  VerifyReport report = Verify(bytes);
  EXPECT_EQ(report.tensor_count, 2u);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].name, "a");
  EXPECT_EQ(report.problems[0].rule, "tensor");
}

TEST_F(VerifiedFile, IsReadOnAfterATornComposite) {
  CompositeHeadLayout two{
      .rule = CompositionRule::kGroup, .combine_op = CombineOp::kNone, .member_count = 2};
  CompositeData group{
      TensorDescriptor(ElementTypes::kInt8, Shape{}, two, BufferTable{}),
      {Filled(Dense(ElementTypes::kInt8, {3})), Filled(Dense(ElementTypes::kInt8, {4}))}};
  auto bytes = FileBytes({{"g", group}, {"z", Filled(Dense(ElementTypes::kInt8, {5}))}}, {});
  // Where the head tells how many members it has: behind header, no shape, offset, rule and op.
  size_t count = 64 + 20 + 8 + 4;
  ASSERT_EQ(bytes[count], 2);
  bytes[count] = 9;
  VerifyReport report = Verify(bytes);
  EXPECT_EQ(report.tensor_count, 4u);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].name, "g");
  EXPECT_EQ(report.problems[0].rule, "tensor");
  EXPECT_EQ(report.problems[0].code, ErrorCode::kInvalidDescriptor);
}

TEST_F(VerifiedFile, ThatIsMissingIsAnErrorOfTheSystem) {
  Checkpoint checkpoint;
  EXPECT_THROW(VerifyFile(folder_ / "none", checkpoint), SystemError);
}

}  // namespace
}  // namespace hurray
