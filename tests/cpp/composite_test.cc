#include "core/composite.h"

#include "testing.h"

namespace hurray {
namespace {

using Numbers = std::vector<uint64_t>;

TensorDescriptor Head(CompositionRule rule, const Numbers& shape, uint32_t members,
                      CombineOp op = CombineOp::kNone, DescriptorSections sections = {}) {
  if (rule == CompositionRule::kOverlay && op == CombineOp::kNone) op = CombineOp::kReplace;
  return Described(ElementTypes::kFloat32, shape, CompositeHeadLayout{rule, op, members}, {},
                   std::move(sections));
}

DescriptorSections Placed(const Numbers& parent, const Numbers& offset,
                          std::optional<MemberRole> role = std::nullopt) {
  DescriptorSections sections;
  sections.shard = Shard(ShapeOf(parent), ShapeOf(offset));
  sections.member_role = role;
  return sections;
}

TensorDescriptor Member(const Numbers& shape, const Numbers& parent, const Numbers& offset,
                        std::optional<MemberRole> role = std::nullopt,
                        ElementType dtype = ElementTypes::kFloat32) {
  return Dense(dtype, shape, Placed(parent, offset, role));
}

// As they come from a stream: with the roles they have.
void Arrive(const TensorDescriptor& head, const std::vector<TensorDescriptor>& members) {
  CompositeChecker checker(head);
  for (const TensorDescriptor& member : members) {
    member.Validate(ErrorCode::kInvalidDescriptor);
    checker.Add(member);
  }
  checker.Close();
}

auto IsRefused(const std::string& message) {
  return ThrowsCode(ErrorCode::kInvalidDescriptor, message);
}

constexpr auto kBase = MemberRole::kBase;
constexpr auto kCorrection = MemberRole::kCorrection;

// ---- partition

TensorDescriptor Halves(uint32_t members = 2) {
  return Head(CompositionRule::kPartition, {4, 4}, members);
}
TensorDescriptor Top() { return Member({2, 4}, {4, 4}, {0, 0}); }
TensorDescriptor Low() { return Member({2, 4}, {4, 4}, {2, 0}); }

TEST(Partition, IsCoveredByItsMembersInAnyOrder) {
  EXPECT_NO_THROW(Arrive(Halves(), {Top(), Low()}));
  EXPECT_NO_THROW(Arrive(Halves(), {Low(), Top()}));
}

TEST(Partition, RefusesAMemberWithoutAShard) {
  EXPECT_THAT([] { Arrive(Halves(), {Top(), Dense(ElementTypes::kFloat32, {2, 4})}); },
              IsRefused("member 1 has no shard"));
}

TEST(Partition, RefusesAnotherParentShape) {
  EXPECT_THAT([] { Arrive(Halves(), {Member({2, 4}, {4, 5}, {0, 0})}); },
              IsRefused("member 0 has parent_shape [4, 5]"));
  EXPECT_THAT([] { Arrive(Halves(), {Member({2}, {4}, {0})}); }, IsRefused("parent_shape [4]"));
}

TEST(Partition, RefusesABoxOutOfBounds) {
  CompositeChecker checker(Halves());
  EXPECT_THAT([&] { checker.Add(Member({2, 4}, {4, 4}, {3, 0})); }, IsRefused("member 0: shard"));
}

TEST(Partition, RefusesAnotherTypeUnlessQuantized) {
  EXPECT_THAT(
      [] { Arrive(Halves(), {Top(), Member({2, 4}, {4, 4}, {2, 0}, {}, ElementTypes::kFloat16)}); },
      IsRefused("member 1 has dtype float16"));
  DescriptorSections sections = Placed({4, 4}, {2, 0});
  sections.quantization = Quantization{PerTensorAffine{0.5f, 0}, {}};
  EXPECT_NO_THROW(Arrive(Halves(), {Top(), Dense(ElementTypes::kInt8, {2, 4}, sections)}));
}

TEST(Partition, RefusesAMemberWithARole) {
  EXPECT_THAT([] { Arrive(Halves(), {Member({2, 4}, {4, 4}, {0, 0}, kBase)}); },
              IsRefused("carries the role base"));
}

TEST(Partition, RefusesAnOverlap) {
  EXPECT_THAT([] { Arrive(Halves(), {Top(), Member({3, 4}, {4, 4}, {1, 0})}); },
              IsRefused("members 0 and 1 of a partition overlap"));
  EXPECT_THAT([] { Arrive(Halves(), {Top(), Top()}); }, IsRefused("overlap"));
}

TEST(Partition, RefusesAGap) {
  EXPECT_THAT([] { Arrive(Halves(), {Top(), Member({1, 4}, {4, 4}, {3, 0})}); },
              IsRefused("cover 12 of the 16 elements"));
}

TEST(Partition, RefusesTooFewAndTooManyMembers) {
  EXPECT_THAT([] { Arrive(Halves(), {Top()}); }, IsRefused("1 members, member_count is 2"));
  EXPECT_THAT([] { Arrive(Halves(), {Top(), Low(), Top()}); }, IsRefused("more members follow"));
}

TEST(Partition, WithoutMembersIsOneWithoutElements) {
  EXPECT_NO_THROW(Arrive(Head(CompositionRule::kPartition, {0, 4}, 0), {}));
  EXPECT_THAT([] { Arrive(Halves(0), {}); }, IsRefused("cover 0 of the 16"));
}

TEST(Partition, OfAScalarHasOneMember) {
  TensorDescriptor scalar = Member({}, {}, {});
  EXPECT_NO_THROW(Arrive(Head(CompositionRule::kPartition, {}, 1), {scalar}));
  EXPECT_THAT([&] { Arrive(Head(CompositionRule::kPartition, {}, 2), {scalar, scalar}); },
              IsRefused("overlap"));
}

TEST(Partition, TreatsEmptyBoxesAsTheFormulaDoes) {
  EXPECT_NO_THROW(Arrive(Halves(3), {Top(), Low(), Member({0, 4}, {4, 4}, {2, 0})}));
  EXPECT_THAT([] { Arrive(Halves(3), {Top(), Low(), Member({0, 4}, {4, 4}, {1, 0})}); },
              IsRefused("members 0 and 2"));
}

TEST(Partition, RefusesAVolumeBeyond64Bits) {
  EXPECT_THAT(
      [] {
        CompositeChecker checker(
            Head(CompositionRule::kPartition, {uint64_t{1} << 32, uint64_t{1} << 32}, 1));
      },
      IsRefused("exceeds 64 bits"));
}

TEST(Partition, IsNotFooledByVolumesThatWrap) {
  // Each member is the whole, so three of them sum to more than 2^64.
  Numbers shape{uint64_t{3} << 61};
  TensorDescriptor head = Head(CompositionRule::kPartition, shape, 3);
  TensorDescriptor whole =
      Described(ElementTypes::kFloat32, shape, RowMajorLayout{}, {0}, Placed(shape, {0}));
  CompositeChecker checker(head);
  for (int i = 0; i < 3; ++i) checker.Add(whole);
  EXPECT_THAT([&] { checker.Close(); }, IsRefused("overlap"));
}

TEST(Partition, MayHaveThousandsOfMembers) {
  constexpr uint32_t kMembers = 4096;
  TensorDescriptor head = Head(CompositionRule::kPartition, {kMembers, 2}, kMembers);
  CompositeChecker checker(head);
  for (uint64_t i = 0; i < kMembers; ++i) checker.Add(Member({1, 2}, {kMembers, 2}, {i, 0}));
  EXPECT_NO_THROW(checker.Close());
}

TEST(Partition, HoldsANestedHeadThatHasAShard) {
  TensorDescriptor nested =
      Head(CompositionRule::kOverlay, {2, 4}, 1, CombineOp::kAdd, Placed({4, 4}, {2, 0}));
  EXPECT_NO_THROW(Arrive(Halves(), {Top(), nested}));
  EXPECT_THAT([] { Arrive(Halves(), {Top(), Head(CompositionRule::kGroup, {2, 4}, 0)}); },
              IsRefused("member 1 has no shard"));
}

// ---- overlay

TensorDescriptor Overlay(uint32_t members = 2) {
  return Head(CompositionRule::kOverlay, {4, 4}, members);
}
TensorDescriptor Base() { return Member({4, 4}, {4, 4}, {0, 0}, kBase); }
TensorDescriptor Patch() { return Member({2, 2}, {4, 4}, {1, 1}, kCorrection); }

TEST(Overlay, HasABaseAndCorrectionsThatMayOverlap) {
  EXPECT_NO_THROW(Arrive(Overlay(1), {Base()}));
  EXPECT_NO_THROW(Arrive(Overlay(3), {Base(), Patch(), Patch()}));
}

TEST(Overlay, RefusesToHaveNoMembers) {
  EXPECT_THAT([] { Arrive(Overlay(0), {}); }, IsRefused("needs at least a base"));
}

TEST(Overlay, RefusesMembersWithoutAShard) {
  DescriptorSections sections;
  sections.member_role = kBase;
  EXPECT_THAT([&] { Arrive(Overlay(), {Dense(ElementTypes::kFloat32, {4, 4}, sections)}); },
              IsRefused("no shard"));
}

TEST(Overlay, RefusesMembersWithoutARole) {
  EXPECT_THAT([] { Arrive(Overlay(), {Member({4, 4}, {4, 4}, {0, 0})}); },
              IsRefused("member 0 of an overlay has no role, it must be base"));
  EXPECT_THAT([] { Arrive(Overlay(), {Base(), Member({2, 2}, {4, 4}, {1, 1})}); },
              IsRefused("no role, it must be correction"));
}

TEST(Overlay, RefusesRolesOutOfPlace) {
  EXPECT_THAT([] { Arrive(Overlay(), {Patch()}); },
              IsRefused("the role correction, it must be base"));
  EXPECT_THAT([] { Arrive(Overlay(), {Base(), Base()}); },
              IsRefused("the role base, it must be correction"));
}

TEST(Overlay, RefusesABaseThatIsNotTheWhole) {
  EXPECT_THAT([] { Arrive(Overlay(), {Member({3, 4}, {4, 4}, {0, 0}, kBase)}); },
              IsRefused("must cover the whole"));
  EXPECT_THAT([] { Arrive(Overlay(), {Member({3, 4}, {4, 4}, {1, 0}, kBase)}); },
              IsRefused("must cover the whole"));
}

TEST(Overlay, RefusesAnEmptyBaseAwayFromTheOrigin) {
  TensorDescriptor head = Head(CompositionRule::kOverlay, {0, 4}, 1);
  EXPECT_NO_THROW(Arrive(head, {Member({0, 4}, {0, 4}, {0, 0}, kBase)}));
  EXPECT_THAT([&] { Arrive(head, {Member({0, 0}, {0, 4}, {0, 4}, kBase)}); },
              IsRefused("must cover the whole"));
}

TEST(Overlay, RefusesANestedHead) {
  CompositeChecker checker(Overlay());
  checker.Add(Base());
  TensorDescriptor nested =
      Head(CompositionRule::kGroup, {2, 2}, 0, CombineOp::kNone, Placed({4, 4}, {0, 0}));
  EXPECT_THAT([&] { checker.Add(nested, kCorrection); }, IsRefused("an overlay cannot hold one"));
}

TEST(Overlay, RefusesAnotherType) {
  EXPECT_THAT(
      [] { Arrive(Overlay(), {Member({4, 4}, {4, 4}, {0, 0}, kBase, ElementTypes::kInt32)}); },
      IsRefused("dtype int32"));
}

TEST(Overlay, RefusesABoxOutOfBounds) {
  CompositeChecker checker(Overlay());
  checker.Add(Base());
  EXPECT_THAT([&] { checker.Add(Member({2, 2}, {4, 4}, {3, 3}, kCorrection)); },
              IsRefused("member 1: shard_offset[0] = 3"));
}

// ---- group

TEST(Group, TakesAnyTensorsAndNone) {
  EXPECT_NO_THROW(Arrive(Head(CompositionRule::kGroup, {kDynamicExtent}, 0), {}));
  EXPECT_NO_THROW(
      Arrive(Head(CompositionRule::kGroup, {9}, 3),
             {Dense(ElementTypes::kBool, {3}), Low(), Head(CompositionRule::kPartition, {4}, 1)}));
}

TEST(Group, RefusesAMemberWithARole) {
  EXPECT_THAT([] { Arrive(Head(CompositionRule::kGroup, {4}, 1), {Patch()}); },
              IsRefused("carries the role correction"));
}

TEST(Group, RefusesMissingMembers) {
  EXPECT_THAT([] { Arrive(Head(CompositionRule::kGroup, {4}, 0xFFFFFFFE), {Top()}); },
              IsRefused("1 members, member_count is 4294967294"));
}

// ---- in memory

TEST(CheckComposite, GivesMembersTheRolesOfTheirPlaces) {
  TensorDescriptor base = Member({4, 4}, {4, 4}, {0, 0});
  TensorDescriptor patch = Patch();
  std::vector<const TensorDescriptor*> members{&base, &patch, &base};
  EXPECT_NO_THROW(CheckComposite(Overlay(3), members));
  EXPECT_NO_THROW(CheckComposite(Head(CompositionRule::kGroup, {1}, 3), members));
  EXPECT_THAT([&] { CheckComposite(Overlay(2), members); }, IsRefused("more members"));
  EXPECT_THAT([&] { CheckComposite(Overlay(4), members); }, IsRefused("3 members"));
}

TEST(CheckComposite, AsksANestedHeadForItsShardFirst) {
  TensorDescriptor nested = Head(CompositionRule::kGroup, {4, 4}, 0);
  std::vector<const TensorDescriptor*> members{&nested};
  EXPECT_THAT([&] { CheckComposite(Overlay(1), members); }, IsRefused("no shard"));
  EXPECT_THAT([&] { CheckComposite(Halves(1), members); }, IsRefused("no shard"));
}

TEST(MemberAsWritten, HasTheRoleOfItsPlaceOnly) {
  using enum CompositionRule;
  EXPECT_EQ(MemberAsWritten(Top(), kOverlay, 0).member_role(), kBase);
  EXPECT_EQ(MemberAsWritten(Base(), kOverlay, 1).member_role(), kCorrection);
  EXPECT_EQ(MemberAsWritten(Base(), kPartition, 0).member_role(), std::nullopt);
  EXPECT_EQ(MemberAsWritten(Patch(), kGroup, 5).member_role(), std::nullopt);
  EXPECT_EQ(MemberAsWritten(Top(), kPartition, 0), Top());
}

// ---- nesting

TEST(CompositeWalk, FollowsNestedHeadsUntilTheLastMember) {
  CompositeWalk walk(Head(CompositionRule::kGroup, {1}, 3));
  EXPECT_EQ(walk.depth(), 1u);
  walk.Add(Dense(ElementTypes::kInt8, {5}));
  walk.Add(Halves());
  EXPECT_EQ(walk.depth(), 2u);
  walk.Add(Top());
  walk.Add(Low());
  EXPECT_EQ(walk.depth(), 1u);
  EXPECT_FALSE(walk.complete());
  walk.Add(Head(CompositionRule::kGroup, {1}, 0));
  EXPECT_TRUE(walk.complete());
}

TEST(CompositeWalk, IsCompleteAtOnceWithoutMembers) {
  EXPECT_TRUE(CompositeWalk(Head(CompositionRule::kGroup, {1}, 0)).complete());
  EXPECT_THAT([] { CompositeWalk walk(Overlay(0)); }, IsRefused("at least a base"));
}

TEST(CompositeWalk, ClosesANestedHeadBeforeItsParentGoesOn) {
  CompositeWalk walk(Head(CompositionRule::kGroup, {1}, 2));
  walk.Add(Halves());
  walk.Add(Top());
  EXPECT_THAT([&] { walk.Add(Top()); }, IsRefused("overlap"));
}

TEST(CompositeWalk, NestsEightHeadsAndNoMore) {
  CompositeWalk walk(Head(CompositionRule::kGroup, {1}, 1));
  for (size_t depth = 2; depth <= kMaxCompositeDepth; ++depth) {
    walk.Add(Head(CompositionRule::kGroup, {1}, 1));
  }
  EXPECT_THAT([&] { walk.Add(Head(CompositionRule::kGroup, {1}, 1)); },
              IsRefused("9 heads are nested, at most 8"));
}

TEST(CompositeWalk, MayBeGivenALowerLimit) {
  CompositeWalk walk(Head(CompositionRule::kGroup, {1}, 1), 1);
  EXPECT_THAT([&] { walk.Add(Halves()); }, IsRefused("at most 1 may be"));
  EXPECT_THAT([] { CheckCompositeDepth(3, 2); }, IsRefused("at most 2"));
  EXPECT_NO_THROW(CheckCompositeDepth(8));
}

}  // namespace
}  // namespace hurray
