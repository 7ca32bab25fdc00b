#include "core/metadata.h"

#include "guarded_bytes.h"
#include "testing.h"

namespace hurray {
namespace {

Metadata OneOfEach() {
  return {{"text", std::string("h\xC3\xA9")},
          {"int", int64_t{-1}},
          {"uint", UINT64_MAX},
          {"float", -0.0},
          {"bool", true},
          {"bytes", Blob{0, 255}},
          {"texts", std::vector<std::string>{"a", ""}},
          {"ints", std::vector<int64_t>{INT64_MIN, 0}},
          {"uints", std::vector<uint64_t>{1}},
          {"floats", std::vector<double>{0.5}},
          {"bools", std::vector<bool>{true, false, true}},
          {"blobs", std::vector<Blob>{{}, {7}}}};
}

TEST(Metadata, OfEveryKindComesBack) {
  EXPECT_EQ(DecodeMetadata(EncodeMetadata(OneOfEach())), OneOfEach());
}

TEST(Metadata, IsWrittenAsTheFormatSays) {
  EXPECT_EQ(EncodeMetadata(
                {{"producer", std::string("hurray-conformance")}, {"tensor_count", int64_t{2}}}),
            Bytes("02000000 0800 70726F6475636572 01 12000000 "
                  "6875727261792D636F6E666F726D616E6365 "
                  "0C00 74656E736F725F636F756E74 02 0200000000000000"));
  EXPECT_EQ(EncodeMetadata({{"k", std::vector<bool>{true, false}}}),
            Bytes("01000000 0100 6B 07 05 02000000 01 00"));
  EXPECT_EQ(EncodeMetadata({}), Bytes(""));
}

TEST(Metadata, CutShortIsRefused) {
  ForEveryShorterInput(EncodeMetadata(OneOfEach()), [](std::span<const uint8_t> bytes) {
    EXPECT_THAT([&] { DecodeMetadata(bytes); }, ThrowsCode(ErrorCode::kFile));
  });
}

TEST(Metadata, ChangedAnywhereIsReadWithoutHarm) {
  std::vector<uint8_t> bytes = EncodeMetadata(OneOfEach());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int flip : {1, 0x80, 0xFF}) {
      std::vector<uint8_t> changed = bytes;
      changed[i] = static_cast<uint8_t>(changed[i] ^ flip);
      try {
        Metadata metadata = DecodeMetadata(changed);
        EXPECT_EQ(EncodeMetadata(metadata), changed);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kFile);
      }
    }
  }
}

TEST(Metadata, WithAnEmptyArrayIsReadAndNotWritten) {
  Metadata metadata = DecodeMetadata(Bytes("01000000 0100 6B 07 04 00000000"));
  EXPECT_EQ(metadata, (Metadata{{"k", std::vector<double>{}}}));
  EXPECT_THAT([&] { EncodeMetadata(metadata); }, ThrowsCode(ErrorCode::kFile, "empty"));
}

struct Malformed {
  const char* name;
  const char* bytes;
  const char* message;
};

class MalformedMetadata : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedMetadata, IsRefused) {
  EXPECT_THAT([&] { DecodeMetadata(Bytes(GetParam().bytes)); },
              ThrowsCode(ErrorCode::kFile, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, MalformedMetadata,
    testing::Values(
        Malformed{"CountOfBillions", "FFFFFFFF 0100 6B 05 01", "count is 4294967295"},
        Malformed{"EmptyKey", "01000000 0000 0501 00", "is empty"},
        Malformed{"KeyNotUtf8", "01000000 0100 FF 05 01", "not UTF-8"},
        Malformed{"KeyTwice", "02000000 0100 6B 05 01 0100 6B 05 01", "comes twice"},
        Malformed{"TagZero", "01000000 0100 6B 00 01", "tag is 0x00"},
        Malformed{"TagEight", "01000000 0100 6B 08 01", "tag is 0x08"},
        Malformed{"BoolTwo", "01000000 0100 6B 05 02", "bool is 2"},
        Malformed{"TextNotUtf8", "01000000 0100 6B 01 01000000 FF", "not UTF-8"},
        Malformed{"TextTooLong", "01000000 0100 6B 01 FFFFFFFF 61", "truncated"},
        Malformed{"NestedArray", "01000000 0100 6B 07 07 00000000", "element tag is 0x07"},
        Malformed{"ArrayOfBillions", "01000000 0100 6B 07 05 FFFFFFFF 01", "claims 4294967295"},
        Malformed{"ArrayOfManyTexts", "01000000 0100 6B 07 01 02000000 00000000", "claims 2"},
        Malformed{"BytesLeft", "01000000 0100 6B 05 01 00", "1 bytes are left"}),
    [](const auto& row) { return row.param.name; });

struct Unwritable {
  const char* name;
  Metadata metadata;
};

class UnwritableMetadata : public testing::TestWithParam<Unwritable> {};

TEST_P(UnwritableMetadata, IsRefused) {
  EXPECT_THAT([&] { EncodeMetadata(GetParam().metadata); }, ThrowsCode(ErrorCode::kFile));
}

INSTANTIATE_TEST_SUITE_P(Cases, UnwritableMetadata,
                         testing::Values(Unwritable{"EmptyKey", {{"", true}}},
                                         Unwritable{"LongKey", {{std::string(65536, 'k'), true}}},
                                         Unwritable{"KeyNotUtf8", {{"\xFF", true}}},
                                         Unwritable{"KeyTwice", {{"k", true}, {"k", false}}},
                                         Unwritable{"TextNotUtf8", {{"k", std::string("\xC3")}}}),
                         [](const auto& row) { return row.param.name; });

TEST(Metadata, TakesKeysOfTheGreatestLength) {
  Metadata metadata{{std::string(65535, 'k'), int64_t{1}}};
  EXPECT_EQ(DecodeMetadata(EncodeMetadata(metadata)), metadata);
}

}  // namespace
}  // namespace hurray
