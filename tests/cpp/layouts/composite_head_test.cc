#include "core/layouts/composite_head.h"

#include "guarded_bytes.h"
#include "testing.h"

namespace hurray {
namespace {

CompositeHeadLayout Decoded(std::span<const uint8_t> bytes) {
  ByteReader in(bytes);
  return CompositeHeadLayout::Decode(in, 2);
}

TEST(CompositeHead, IsDecodedAndEncodedAgain) {
  auto bytes = Bytes("02 01 0000 05000000");
  CompositeHeadLayout head = Decoded(bytes);
  EXPECT_EQ(head, (CompositeHeadLayout{CompositionRule::kOverlay, CombineOp::kReplace, 5}));
  std::vector<uint8_t> again(head.encoded_size());
  ByteWriter out(again);
  head.Encode(out);
  EXPECT_EQ(again, bytes);
}

TEST(CompositeHead, AcceptsThePairsOfRuleAndOperationOfTheFormatOnly) {
  for (unsigned rule = 0; rule < 256; ++rule) {
    for (unsigned op = 0; op < 256; ++op) {
      std::vector<uint8_t> bytes{
          static_cast<uint8_t>(rule), static_cast<uint8_t>(op), 0, 0, 1, 0, 0, 0};
      bool legal =
          (rule == 1 && op == 0) || (rule == 2 && (op == 1 || op == 2)) || (rule == 3 && op == 0);
      if (legal) {
        EXPECT_NO_THROW(Decoded(bytes)) << rule << " " << op;
      } else {
        EXPECT_THAT([&] { Decoded(bytes); }, ThrowsCode(ErrorCode::kInvalidDescriptor))
            << rule << " " << op;
      }
    }
  }
}

TEST(CompositeHead, RejectsReservedBytesAndTheReservedCount) {
  EXPECT_THAT([] { Decoded(Bytes("01 00 0100 02000000")); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "reserved"));
  EXPECT_THAT([] { Decoded(Bytes("01 00 0000 FFFFFFFF")); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "member_count"));
  EXPECT_EQ(Decoded(Bytes("01 00 0000 FEFFFFFF")).member_count, 0xFFFFFFFEu);
}

TEST(CompositeHead, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(Bytes("01 00 0000 02000000"), [](std::span<const uint8_t> input) {
    EXPECT_THAT([&] { Decoded(input); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "truncated"));
  });
}

TEST(CompositeHead, AllowsADynamicShapeInAGroupOnly) {
  std::vector<uint64_t> shape{2, kDynamicExtent};
  CompositeHeadLayout group{CompositionRule::kGroup, CombineOp::kNone, 1};
  CompositeHeadLayout partition{CompositionRule::kPartition, CombineOp::kNone, 1};
  CompositeHeadLayout overlay{CompositionRule::kOverlay, CombineOp::kAdd, 1};
  EXPECT_NO_THROW(group.CheckShape(shape));
  EXPECT_THAT([&] { partition.CheckShape(shape); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "partition"));
  EXPECT_THAT([&] { overlay.CheckShape(shape); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "overlay"));
}

TEST(CompositionRule, HasANameAndBack) {
  for (auto rule :
       {CompositionRule::kPartition, CompositionRule::kOverlay, CompositionRule::kGroup}) {
    EXPECT_EQ(CompositionRuleOf(CompositionRuleName(rule)), rule);
  }
  EXPECT_EQ(CompositionRuleOf("mosaic"), std::nullopt);
}

TEST(CombineOp, HasANameAndBack) {
  EXPECT_EQ(CombineOpOf(CombineOpName(CombineOp::kReplace)), CombineOp::kReplace);
  EXPECT_EQ(CombineOpOf(CombineOpName(CombineOp::kAdd)), CombineOp::kAdd);
  EXPECT_EQ(CombineOpName(CombineOp::kNone), "");
  EXPECT_EQ(CombineOpOf(""), std::nullopt);
}

}  // namespace
}  // namespace hurray
