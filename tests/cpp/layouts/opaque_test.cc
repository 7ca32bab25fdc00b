#include "core/layouts/opaque.h"

#include <algorithm>
#include <string>

#include "core/descriptor.h"
#include "guarded_bytes.h"
#include "testing.h"
#include "wire_descriptor.h"

namespace hurray {
namespace {

// ---- private layouts

TEST(PrivateExtensionLayout, IsDecodedAndEncodedAgain) {
  auto bytes = Bytes("0807060504030201 03000000 AABBCC");
  ByteReader in(bytes);
  auto layout = PrivateExtensionLayout::Decode(in, 0xF7);
  EXPECT_EQ(layout.tag(), 0xF7);
  EXPECT_EQ(layout.extension_layout_id, 0x0102030405060708u);
  EXPECT_EQ(layout.extension_data, Bytes("AABBCC"));
  ASSERT_EQ(layout.encoded_size(), bytes.size());
  std::vector<uint8_t> again(bytes.size());
  ByteWriter out(again);
  layout.Encode(out);
  EXPECT_EQ(again, bytes);
}

TEST(PrivateExtensionLayout, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(Bytes("0807060504030201 03000000 AABBCC"),
                       [](std::span<const uint8_t> input) {
                         EXPECT_THAT(
                             [&] {
                               ByteReader in(input);
                               PrivateExtensionLayout::Decode(in, 0xF0);
                             },
                             ThrowsCode(ErrorCode::kInvalidDescriptor, "truncated"));
                       });
}

TEST(PrivateExtensionLayout, ComparesTagIdAndData) {
  PrivateExtensionLayout layout{{}, 0xF0, 7, {1}};
  EXPECT_EQ(layout, (PrivateExtensionLayout{{}, 0xF0, 7, {1}}));
  EXPECT_FALSE(layout == (PrivateExtensionLayout{{}, 0xF1, 7, {1}}));
  EXPECT_FALSE(layout == (PrivateExtensionLayout{{}, 0xF0, 8, {1}}));
  EXPECT_FALSE(layout == (PrivateExtensionLayout{{}, 0xF0, 7, {2}}));
}

// ---- tags of a later version

constexpr uint8_t kReservedTag = 0x0C;
constexpr uint32_t kQuantizationFlag = 1;

// Symmetric per-channel, with its length in front; the scales are in buffer `scale_buffer`.
std::vector<uint8_t> QuantizationSection(uint8_t scale_buffer) {
  auto section = Bytes("14000000 02010100 00000000 00000000 FFFFFFFF 03000000");
  section[12] = scale_buffer;
  return section;
}

WireDescriptor Unknown(std::vector<uint8_t> payload) {
  WireDescriptor wire;
  wire.layout_tag = kReservedTag;
  wire.shape = {2, 3};
  wire.payload = std::move(payload);
  wire.handles = {{6}};
  return wire;
}

TensorDescriptor DecodedPermissively(const WireDescriptor& wire) {
  auto bytes = wire.Encode();
  GuardedBytes guarded(bytes.size());
  return TensorDescriptor::Decode(guarded.Place(bytes), Mode::kPermissive);
}

class ReservedLayoutTag : public testing::TestWithParam<uint8_t> {};

TEST_P(ReservedLayoutTag, IsRefusedByAStrictReader) {
  WireDescriptor wire = Unknown(Bytes("AA BB"));
  wire.layout_tag = GetParam();
  EXPECT_THAT([&] { TensorDescriptor::Decode(wire.Encode()); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "layout_tag"));
}

TEST_P(ReservedLayoutTag, IsKeptByAPermissiveReader) {
  WireDescriptor wire = Unknown(Bytes("AA BB"));
  wire.layout_tag = GetParam();
  TensorDescriptor descriptor = DecodedPermissively(wire);
  EXPECT_EQ(descriptor.layout(), Layout(UnknownLayout{{}, GetParam(), Bytes("AA BB")}));
  EXPECT_EQ(descriptor.Encode(), wire.Encode());
}

INSTANTIATE_TEST_SUITE_P(Tags, ReservedLayoutTag,
                         testing::Values(0x0C, 0x3F, 0x41, 0x7F, 0x80, 0xEF),
                         [](const auto& row) { return HexByte(row.param); });

TEST(LayoutTagKind, SplitsTheTagSpace) {
  for (unsigned tag = 0; tag < 256; ++tag) {
    auto byte = static_cast<uint8_t>(tag);
    std::string_view expected = tag == 0 || tag == 0xFF        ? "invalid"
                                : tag >= 0xF0                  ? "private"
                                : (tag <= 0x0B || tag == 0x40) ? "named"
                                                               : "reserved";
    EXPECT_EQ(LayoutTagKind(byte), expected) << HexByte(tag);
    EXPECT_EQ(NamedLayoutName(byte).has_value(), expected == "named") << HexByte(tag);
  }
}

struct Payload {
  std::string name;
  WireDescriptor (*make)();
  size_t payload_size;
};

class UnknownPayload : public testing::TestWithParam<Payload> {};

TEST_P(UnknownPayload, EndsAtTheOnlyPossibleSplit) {
  WireDescriptor wire = GetParam().make();
  TensorDescriptor descriptor = DecodedPermissively(wire);
  EXPECT_EQ(std::get<UnknownLayout>(descriptor.layout()).raw_bytes.size(), GetParam().payload_size);
  EXPECT_EQ(descriptor.Encode(), wire.Encode());
  EXPECT_EQ(TensorDescriptor::Decode(descriptor.Encode(), Mode::kPermissive), descriptor);
}

TEST_P(UnknownPayload, IsRefusedForEveryShorterInput) {
  auto bytes = GetParam().make().Encode();
  ForEveryShorterInput(bytes, [](std::span<const uint8_t> input) {
    EXPECT_THAT([&] { TensorDescriptor::Decode(input, Mode::kPermissive); },
                ThrowsCode(ErrorCode::kInvalidDescriptor));
  });
}

INSTANTIATE_TEST_SUITE_P(
    Rows, UnknownPayload,
    testing::Values(
        Payload{"Empty", [] { return Unknown({}); }, 0},
        Payload{"OneByte", [] { return Unknown(Bytes("07")); }, 1},
        Payload{"Zeros", [] { return Unknown(std::vector<uint8_t>(100, 0)); }, 100},
        Payload{"WithQuantization",
                [] {
                  WireDescriptor wire = Unknown(Bytes("AA BB CC"));
                  wire.handles = {{6}, {8}};
                  wire.AddSection(kQuantizationFlag, QuantizationSection(1));
                  return wire;
                },
                3},
        Payload{"WithTrailingQuantizationBytes",
                [] {
                  WireDescriptor wire = Unknown(Bytes("AA BB CC"));
                  wire.handles = {{6}, {8}};
                  auto section = QuantizationSection(1);
                  section[0] = 24;
                  section.insert(section.end(), 4, uint8_t{0xEE});
                  wire.AddSection(kQuantizationFlag, section);
                  return wire;
                },
                3},
        Payload{"WithShard",
                [] {
                  WireDescriptor wire = Unknown(Bytes("AA"));
                  wire.AddSection(2, LittleEndian<uint64_t>({4, 3, 2, 0}));
                  return wire;
                },
                1},
        Payload{"WithMemberRole",
                [] {
                  WireDescriptor wire = Unknown(Bytes("AA"));
                  wire.AddSection(16, std::vector<uint8_t>(16, 0));
                  return wire;
                },
                1},
        // The payload looks like a buffer table of its own, but one that would end elsewhere.
        Payload{"ThatContainsAHandle",
                [] { return Unknown(Bytes("01 0600000000000000 40000000 00 00 00 00 AA")); }, 18}),
    [](const auto& row) { return row.param.name; });

// One buffer of 6 bytes and a per-tensor scheme that takes all of `rest` as its trailing bytes.
std::vector<uint8_t> TableAndQuantization(const std::vector<uint8_t>& rest) {
  auto out = Bytes("01 0600000000000000 40000000 00 00 00 00");
  auto length = LittleEndian<uint32_t>({static_cast<uint32_t>(16 + rest.size())});
  out.insert(out.end(), length.begin(), length.end());
  auto scheme = Bytes("01010000 0000803F 00000000 00000000");
  out.insert(out.end(), scheme.begin(), scheme.end());
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

// A descriptor whose bytes behind byte_offset are these.
WireDescriptor UnknownWith(const std::vector<uint8_t>& rest) {
  WireDescriptor wire = Unknown({rest.begin(), rest.begin() + 17});
  wire.handles.clear();
  wire.buffer_count = rest[17];
  wire.sections.assign(rest.begin() + 18, rest.end());
  wire.flags = kQuantizationFlag;
  return wire;
}

TEST(UnknownLayout, IsRefusedWhereTwoSplitsAreValid) {
  auto inner = TableAndQuantization({});
  EXPECT_THAT([&] { DecodedPermissively(UnknownWith(TableAndQuantization(inner))); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "may have 0 or 37 bytes"));
}

TEST(UnknownLayout, TakesTheSplitWhoseSectionsAreValidWhereAnotherOnlyFits) {
  auto inner = TableAndQuantization({});
  auto outer = TableAndQuantization(inner);
  outer[17 + 4 + 1] = 2;  // the outer scheme has an unknown version
  TensorDescriptor descriptor = DecodedPermissively(UnknownWith(outer));
  EXPECT_EQ(std::get<UnknownLayout>(descriptor.layout()).raw_bytes.size(), 37u);
  ASSERT_NE(descriptor.quantization(), nullptr);
  EXPECT_TRUE(descriptor.quantization()->trailing.empty());
}

TEST(UnknownLayout, IsRefusedWhereNoSplitIsValid) {
  WireDescriptor wire = Unknown(Bytes("AA"));
  wire.handles[0].reserved = 1;
  EXPECT_THAT([&] { DecodedPermissively(wire); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "no split"));
}

struct Hostile {
  std::string name;
  std::string_view length;
};

class HostileQuantizationLength : public testing::TestWithParam<Hostile> {};

TEST_P(HostileQuantizationLength, LeavesNoValidSplit) {
  WireDescriptor wire = Unknown(Bytes("AA BB"));
  wire.handles = {{6}, {8}};
  auto section = QuantizationSection(1);
  auto length = Bytes(GetParam().length);
  std::copy(length.begin(), length.end(), section.begin());
  wire.AddSection(kQuantizationFlag, section);
  EXPECT_THAT([&] { DecodedPermissively(wire); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "no split"));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, HostileQuantizationLength,
    testing::Values(Hostile{"Zero", "00000000"}, Hostile{"OneTooSmall", "13000000"},
                    Hostile{"OneTooLarge", "15000000"}, Hostile{"Maximum", "FFFFFFFF"},
                    // Added to the bytes before it, these wrap in 32 bits.
                    Hostile{"ThatWraps", "FCFFFFFF"}, Hostile{"SignBit", "14000080"}),
    [](const auto& row) { return row.param.name; });

TEST(UnknownLayout, OfANewerMinorIsRefused) {
  WireDescriptor wire = Unknown(Bytes("AA"));
  wire.version_minor = 1;
  EXPECT_THAT([&] { DecodedPermissively(wire); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "minor version"));
}

TEST(UnknownLayout, CannotDescribeAScalar) {
  WireDescriptor wire = Unknown(Bytes("AA"));
  wire.shape.clear();
  EXPECT_THAT([&] { DecodedPermissively(wire); }, ThrowsCode(ErrorCode::kInvalidDescriptor));
}

TEST(UnknownLayout, WithAnyOneByteChangedIsRefusedOrEncodedAgain) {
  WireDescriptor wire = Unknown(Bytes("AA BB CC"));
  wire.handles = {{6}, {8}};
  wire.AddSection(kQuantizationFlag, QuantizationSection(1));
  auto bytes = wire.Encode();
  auto changed = bytes;
  GuardedBytes guarded(bytes.size());
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      changed[at] = static_cast<uint8_t>(value);
      try {
        auto again = TensorDescriptor::Decode(guarded.Place(changed), Mode::kPermissive).Encode();
        ASSERT_LE(again.size(), changed.size()) << "byte " << at << " is " << value;
        EXPECT_TRUE(std::equal(again.begin(), again.end(), changed.begin()))
            << "byte " << at << " is " << value;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidDescriptor) << error.what();
      }
    }
    changed[at] = bytes[at];
  }
}

}  // namespace
}  // namespace hurray
