#include <signal.h>
#include <sys/resource.h>

#include <algorithm>

#include "data_path.h"
#include "io/crc32c.h"
#include "io/io_testing.h"

namespace hurray {
namespace {

// ---- round trips

TEST(File, ComesBackFromMemory) {
  FileReader reader = OpenBytes(FileBytes(SampleItems(), SampleMetadata()));
  ExpectSameItems(AllItems(reader), SampleItems());
  Checkpoint checkpoint;
  EXPECT_EQ(reader.ReadMetadata(checkpoint), SampleMetadata());
}

TEST(File, ComesBackFromDiskMappedAndRead) {
  TemporaryFolder folder;
  Checkpoint checkpoint;
  SaveFile(folder / "file", SampleItems(), SampleMetadata(), true, checkpoint);
  EXPECT_EQ(ReadWholeFile(folder / "file"), FileBytes(SampleItems(), SampleMetadata()));
  for (FileAccess access : {FileAccess::kMap, FileAccess::kRead}) {
    FileReader reader(OpenSource(folder / "file", access, checkpoint), Mode::kStrict, checkpoint);
    ExpectSameItems(AllItems(reader), SampleItems());
    EXPECT_EQ(reader.ReadMetadata(checkpoint), SampleMetadata());
  }
}

TEST(File, WithoutTensorsComesBack) {
  FileReader reader = OpenBytes(FileBytes({}));
  EXPECT_EQ(reader.entry_count(), 0u);
  EXPECT_FALSE(reader.Find("a"));
  Checkpoint checkpoint;
  EXPECT_TRUE(reader.ReadMetadata(checkpoint).empty());
}

TEST(File, ListsMembersAndGivesThemAlone) {
  FileReader reader = OpenBytes(FileBytes(SampleItems()));
  Checkpoint checkpoint;
  auto base = reader.Find("overlay.0");
  ASSERT_TRUE(base);
  EXPECT_TRUE(reader.is_member(*base));
  EXPECT_FALSE(reader.is_member(*reader.Find("overlay")));
  EXPECT_TRUE(reader.Find("group.0.1"));
  // Read alone, it keeps the role it has in the file; inside its composite it has none.
  EXPECT_EQ(reader.Read(*base, checkpoint).descriptor().member_role(), MemberRole::kBase);
  Item overlay = reader.Read(*reader.Find("overlay"), checkpoint);
  EXPECT_FALSE(std::get<CompositeData>(overlay).members[0].descriptor().member_role());
}

TEST(File, IsWhatTheReferenceWrites) {
  auto bytes = ReadTestData("vectors/basic.hrry");
  FileReader reader = OpenBytes(bytes);
  Checkpoint checkpoint;
  auto items = AllItems(reader);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].name, "weights");
  EXPECT_EQ(items[0].item.descriptor(), Dense(ElementTypes::kFloat32, {2, 2}));
  EXPECT_EQ(items[1].name, "bias");
  EXPECT_EQ(items[1].item.descriptor(), Dense(ElementTypes::kInt8, {3}));
  EXPECT_EQ(FileBytes(items, reader.ReadMetadata(checkpoint)), bytes);
}

TEST(File, OfTenThousandTensorsFindsEach) {
  std::vector<NamedItem> items;
  for (int i = 0; i < 10000; ++i) {
    items.push_back({"t" + std::to_string(i), Filled(Dense(ElementTypes::kInt8, {0}))});
  }
  FileReader reader = OpenBytes(FileBytes(items));
  for (uint32_t i = 0; i < 10000; ++i) ASSERT_EQ(reader.Find("t" + std::to_string(i)), i);
}

// ---- where things lie

// The numbers of an index entry, as the format describes it.
struct Placed {
  uint64_t descriptor_offset, data_offset, data_length;
};

std::vector<Placed> PlacesIn(std::span<const uint8_t> file) {
  ByteReader trailer(file.last(40));
  ByteReader in(file.subspan(trailer.ReadU64("index_offset")));
  std::vector<Placed> places(in.ReadU64("count"));
  for (Placed& place : places) {
    in.ReadBytes(in.ReadU16("name length"), "name");
    place.descriptor_offset = in.ReadU64("descriptor_offset");
    in.ReadU32("descriptor_length");
    place.data_offset = in.ReadU64("data_offset");
    place.data_length = in.ReadU64("data_length");
    in.ReadU32("flags");
  }
  return places;
}

TEST(FileLayout, PadsBetweenBuffersAndNotBehindThem) {
  auto places = PlacesIn(
      FileBytes({{"a", Filled(Described(ElementTypes::kInt8, {5}, RowMajorLayout{}, {5, 0, 70}))},
                 {"b", Filled(Dense(ElementTypes::kInt8, {0}))},
                 {"c", Filled(Dense(ElementTypes::kInt8, {3}))}}));
  EXPECT_EQ(places[0].data_offset, 4096u);
  // The empty buffer and the one behind it both start at 8192.
  EXPECT_EQ(places[0].data_length, 4096u + 70);
  EXPECT_EQ(places[1].descriptor_offset, 8192u + 72);  // the next multiple of 8
  EXPECT_EQ(places[1].data_offset, 12288u);            // although it is empty
  EXPECT_EQ(places[1].data_length, 0u);
  EXPECT_EQ(places[2].descriptor_offset, 12288u);
}

TEST(FileLayout, DoesNotPadBehindAHead) {
  auto places = PlacesIn(FileBytes({{"c", TwoRows()}}));
  EXPECT_EQ(places[0].descriptor_offset, 64u);
  EXPECT_EQ(places[0].data_offset, 64u + 53);
  EXPECT_EQ(places[0].data_length, 0u);
  EXPECT_EQ(places[1].descriptor_offset, 120u);
}

TensorData Aligned(uint32_t alignment, uint64_t size = 8) {
  BufferTable table(1);
  table[0] = {size, alignment, Device{}, SyncMode::kProducerSynced};
  return Filled(
      TensorDescriptor(ElementTypes::kInt8, ShapeOf({size}), RowMajorLayout{}, std::move(table)));
}

TEST(FileLayout, GivesTheAlignmentThatHandlesDeclare) {
  auto items = std::vector<NamedItem>{{"a", Aligned(64)}, {"b", Aligned(1 << 16)}};
  auto bytes = FileBytes(items);
  EXPECT_EQ(ByteReader::Load<uint32_t>(bytes.data() + 16), uint32_t{1} << 16);
  EXPECT_EQ(PlacesIn(bytes)[0].data_offset, uint64_t{1} << 16);
  TemporaryFolder folder;
  WriteWholeFile(folder / "file", bytes);
  Checkpoint checkpoint;
  FileReader reader(OpenSource(folder / "file", FileAccess::kMap, checkpoint), Mode::kStrict,
                    checkpoint);
  auto got = AllItems(reader);
  ExpectSameItems(got, items);
  const Buffer& buffer = std::get<TensorData>(got[1].item).buffers[0];
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % (1 << 16), 0u);
}

TEST(FileLayout, HasLimitsToTheAlignment) {
  EXPECT_EQ(ByteReader::Load<uint32_t>(FileBytes({{"a", Aligned(2 << 20)}}).data() + 16), 2u << 20);
  EXPECT_THAT([] { FileBytes({{"a", Aligned(4 << 20)}}); },
              ThrowsCode(ErrorCode::kFile, "4194304"));
  // Nothing has to be placed for an empty buffer.
  EXPECT_EQ(ByteReader::Load<uint32_t>(FileBytes({{"a", Aligned(4 << 20, 0)}}).data() + 16), 4096u);
}

TEST(FileLayout, DependsOnNoAddress) {
  TensorData tensor = Filled(Dense(ElementTypes::kInt8, {100}));
  auto bytes = FileBytes({{"t", tensor}});
  tensor.buffers[0] = Buffer::CopyOf(tensor.buffers[0].bytes(), 1 << 20);
  EXPECT_EQ(FileBytes({{"t", tensor}}), bytes);
  auto longer = ToVector(tensor.buffers[0].bytes());
  longer.resize(5000, 0xEE);
  tensor.buffers[0] = Buffer::CopyOf(longer);
  EXPECT_EQ(FileBytes({{"t", tensor}}), bytes);
}

// ---- what is not written

struct Unwritable {
  const char* name;
  std::vector<NamedItem> items;
  ErrorCode code;
};

TensorData Small() { return Filled(Dense(ElementTypes::kInt8, {3})); }

class UnwritableFile : public testing::TestWithParam<Unwritable> {};

TEST_P(UnwritableFile, IsRefusedBeforeItIsCreated) {
  TemporaryFolder folder;
  Checkpoint checkpoint;
  EXPECT_THAT([&] { SaveFile(folder / "file", GetParam().items, {}, false, checkpoint); },
              ThrowsCode(GetParam().code));
  EXPECT_EQ(folder.file_count(), 0u);
}

CompositeData Torn() {
  CompositeData composite = TwoRows();
  composite.members.pop_back();
  return composite;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, UnwritableFile,
    testing::Values(
        Unwritable{"EmptyName", {{"", Small()}}, ErrorCode::kFile},
        Unwritable{"LongName", {{std::string(65536, 'n'), Small()}}, ErrorCode::kFile},
        Unwritable{"NameNotUtf8", {{"\xFF", Small()}}, ErrorCode::kFile},
        Unwritable{"NameTwice", {{"a", Small()}, {"a", Small()}}, ErrorCode::kFile},
        Unwritable{"NameOfAMember", {{"w.1", Small()}, {"w", TwoRows()}}, ErrorCode::kFile},
        Unwritable{"LongNameOfAMember", {{std::string(65535, 'n'), TwoRows()}}, ErrorCode::kFile},
        Unwritable{"TornComposite", {{"w", Torn()}}, ErrorCode::kInvalidDescriptor},
        Unwritable{"NineLevels", {{"w", Nested(9)}}, ErrorCode::kInvalidDescriptor},
        Unwritable{"MissingBuffer",
                   {{"a", TensorData{Dense(ElementTypes::kInt8, {3}), {}}}},
                   ErrorCode::kBuffer},
        Unwritable{"ShortBuffer",
                   {{"a", TensorData{Dense(ElementTypes::kInt8, {3}), {Buffer::Allocate(2)}}}},
                   ErrorCode::kBuffer}),
    [](const auto& row) { return row.param.name; });

class FailedSave : public testing::Test {
 protected:
  // Saves more than the checkpoint's interval, and checks that the old file survives.
  void ExpectOldFileSurvives(Checkpoint checkpoint) {
    auto old = FileBytes(SampleItems());
    WriteWholeFile(path_, old);
    std::vector<NamedItem> items;
    items.push_back({"large", Zeros(20 << 20)});
    EXPECT_ANY_THROW(SaveFile(path_, items, {}, false, checkpoint));
    EXPECT_EQ(ReadWholeFile(path_), old);
    EXPECT_EQ(folder_.file_count(), 1u);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
};

TEST_F(FailedSave, ForWantOfRoomLeavesTheOldFile) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 10 << 20;
  ::setrlimit(RLIMIT_FSIZE, &small);
  ExpectOldFileSurvives(Checkpoint());
  ::setrlimit(RLIMIT_FSIZE, &before);
}

TEST_F(FailedSave, ByItsCheckpointLeavesTheOldFile) {
  ExpectOldFileSurvives(Checkpoint([](const Checkpoint& work) {
    EXPECT_EQ(work.bytes_total(), 4096u + (20 << 20) + 8 + 34 + 5 + 40);
    if (work.bytes_done() > (10 << 20)) throw std::runtime_error("enough");
  }));
}

TEST_F(FailedSave, AtTheLastMomentLeavesTheOldFile) {
  ExpectOldFileSurvives(Checkpoint([](const Checkpoint& work) {
    if (work.bytes_done() == work.bytes_total()) throw std::runtime_error("enough");
  }));
}

TEST(SavedFile, OverTheOneThatIsMappedLeavesTheTensorsAlone) {
  TemporaryFolder folder;
  Checkpoint checkpoint;
  SaveFile(folder / "file", SampleItems(), {}, false, checkpoint);
  FileReader reader(OpenSource(folder / "file", FileAccess::kMap, checkpoint), Mode::kStrict,
                    checkpoint);
  auto items = AllItems(reader);
  items.pop_back();
  SaveFile(folder / "file", items, {}, false, checkpoint);
  items = AllItems(reader);
  ExpectSameItems(items, SampleItems());
}

// ---- hostile input

void ExpectFileError(std::optional<ErrorCode> code) {
  if (code) {
    ASSERT_TRUE(*code == ErrorCode::kFile || *code == ErrorCode::kInvalidDescriptor);
  }
}

void ReadEverything(std::span<const uint8_t> bytes) {
  Checkpoint checkpoint;
  ExpectFileError(CodeOf([&] {
    FileReader reader(MemorySource(InPlace(bytes)), Mode::kStrict, checkpoint);
    for (size_t i = 0; i < reader.entry_count(); ++i) {
      ASSERT_EQ(reader.Find(reader.name(i)), i);
      ExpectFileError(CodeOf([&] { reader.Read(i, checkpoint); }));
    }
    reader.ReadMetadata(checkpoint);
  }));
}

// A file whose index carries no checksum, so that changes in it get past that.
std::vector<uint8_t> WithoutChecksum(std::vector<uint8_t> bytes) {
  bytes[12] = 0;
  std::fill_n(bytes.end() - 12, 4, uint8_t{0});
  return bytes;
}

std::vector<uint8_t> SmallFile() {
  return FileBytes(
      {{"a", Small()}, {"c", TwoRows()}, {"e", Filled(Dense(ElementTypes::kInt8, {0}))}},
      SampleMetadata());
}

TEST(HostileFile, CutShortAnywhereIsRefused) {
  auto bytes = SmallFile();
  Checkpoint checkpoint;
  for (size_t length = 0; length < bytes.size(); ++length) {
    auto code = CodeOf([&] {
      FileReader(MemorySource(InPlace(std::span(bytes).first(length))), Mode::kStrict, checkpoint);
    });
    ASSERT_EQ(code, ErrorCode::kFile) << length;
  }
}

TEST(HostileFile, ChangedAnywhereIsReadWithoutHarm) {
  auto bytes = SmallFile();
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 0xFF;
    ReadEverything(bytes);
    bytes[i] ^= 0xFF;
  }
}

TEST(HostileFile, ChangedWithoutAChecksumIsReadWithoutHarm) {
  auto bytes = WithoutChecksum(SmallFile());
  for (size_t i = 0; i < bytes.size(); ++i) {
    // Changes in padding are tried above.
    if (bytes[i] != 0 || i < 64 || i > bytes.size() - 500) {
      WithByteChanged(bytes, i, [&] { ReadEverything(bytes); });
    }
  }
}

TEST(HostileFile, WithAChangedIndexFailsItsChecksum) {
  auto bytes = SmallFile();
  uint64_t index = ByteReader::Load<uint64_t>(bytes.data() + bytes.size() - 40);
  for (uint64_t i = index; i < bytes.size() - 40; ++i) {
    auto changed = bytes;
    changed[i] ^= 0x10;
    EXPECT_THAT([&] { OpenBytes(changed); }, ThrowsCode(ErrorCode::kFile, "corrupt"));
  }
}

// Changes a small file's index and gives it the checksum that fits.
std::vector<uint8_t> WithIndex(const std::function<void(std::vector<uint8_t>&)>& change) {
  auto bytes = FileBytes({{"a", Small()}, {"b", Small()}});
  uint64_t offset = ByteReader::Load<uint64_t>(bytes.data() + bytes.size() - 40);
  std::vector<uint8_t> index(bytes.begin() + static_cast<ptrdiff_t>(offset), bytes.end() - 40);
  change(index);
  bytes.resize(offset);
  bytes.insert(bytes.end(), index.begin(), index.end());
  std::vector<uint8_t> trailer(40);
  FileTrailer{offset, index.size(), 0, 0, Crc32c(index)}.Encode(
      std::span(trailer).first<kFileTrailerSize>());
  bytes.insert(bytes.end(), trailer.begin(), trailer.end());
  return bytes;
}

// In the index of that file, the second entry starts at 8 + 35.
constexpr size_t kFirst = 8, kSecond = 8 + 35;

struct HostileIndex {
  const char* name;
  std::function<void(std::vector<uint8_t>&)> change;
  const char* message;
};

auto Put(size_t at, uint64_t value, size_t size) {
  return [=](std::vector<uint8_t>& index) {
    for (size_t i = 0; i < size; ++i) index[at + i] = static_cast<uint8_t>(value >> (8 * i));
  };
}

class HostileFileIndex : public testing::TestWithParam<HostileIndex> {};

TEST_P(HostileFileIndex, IsRefused) {
  EXPECT_THAT([&] { OpenBytes(WithIndex(GetParam().change)); },
              ThrowsCode(ErrorCode::kFile, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, HostileFileIndex,
    testing::Values(
        HostileIndex{"CountOfBillions", Put(0, UINT64_MAX, 8), "hold at most 2 entries"},
        HostileIndex{"OneTooMany", Put(0, 3, 8), "hold at most 2 entries"},
        HostileIndex{"OneTooFew", Put(0, 1, 8), "35 bytes are left"},
        HostileIndex{"EmptyName", Put(kFirst, 0, 2), "is empty"},
        HostileIndex{"NamePastTheEnd", Put(kSecond, 60000, 2), "truncated"},
        HostileIndex{"NameNotUtf8", Put(kFirst + 2, 0xFF, 1), "not UTF-8"},
        HostileIndex{"NameTwice", Put(kSecond + 2, 'a', 1), "comes twice"},
        HostileIndex{"DescriptorInTheHeader", Put(kFirst + 3, 56, 8), "descriptor_offset is 56"},
        HostileIndex{"DescriptorPastTheEnd", Put(kFirst + 3, UINT64_MAX - 7, 8),
                     "descriptor_offset is 18446744073709551608"},
        HostileIndex{"DescriptorUnaligned", Put(kFirst + 3, 65, 8), "multiple of 8"},
        HostileIndex{"LengthBelow20", Put(kFirst + 11, 19, 4), "descriptor_length is 19"},
        HostileIndex{"LengthPastTheEnd", Put(kFirst + 11, UINT32_MAX, 4),
                     "descriptor_length 4294967295"},
        HostileIndex{"DataInTheHeader", Put(kFirst + 15, 0, 8), "data_offset is 0"},
        HostileIndex{"DataUnaligned", Put(kFirst + 15, 4104, 8), "multiple of 4096"},
        HostileIndex{"DataPastTheEnd", Put(kFirst + 23, UINT64_MAX, 8),
                     "data_length 18446744073709551615"},
        HostileIndex{"DataShared", Put(kSecond + 15, 4096, 8), "are also those of"},
        HostileIndex{"DescriptorShared", Put(kSecond + 3, 64, 8), "are also those of"},
        HostileIndex{"Flags", Put(kFirst + 31, 1, 4), "flags is 1"}),
    [](const auto& row) { return row.param.name; });

TEST(HostileFile, WithAnotherDescriptorLengthInTheIndexIsRefused) {
  FileReader reader = OpenBytes(WithIndex(Put(kFirst + 11, 52, 4)));
  Checkpoint checkpoint;
  EXPECT_THAT([&] { reader.Read(0, checkpoint); },
              ThrowsCode(ErrorCode::kFile, "descriptor_length is 53, the index says 52"));
}

TEST(HostileFile, WithAnotherDataLengthThanItsBuffersIsRefused) {
  Checkpoint checkpoint;
  FileReader shorter = OpenBytes(WithIndex(Put(kFirst + 23, 2, 8)));
  EXPECT_THAT([&] { shorter.Read(0, checkpoint); },
              ThrowsCode(ErrorCode::kFile, "beyond the data"));
  FileReader longer = OpenBytes(WithIndex(Put(kFirst + 23, 4, 8)));
  EXPECT_THAT([&] { longer.Read(0, checkpoint); },
              ThrowsCode(ErrorCode::kFile, "data_length is 4"));
  // The other tensor is as good as before.
  EXPECT_NO_THROW(longer.Read(1, checkpoint));
}

TEST(HostileFile, WithEntriesInAnyOrderIsReadInFileOrder) {
  auto bytes = WithIndex([](std::vector<uint8_t>& index) {
    std::rotate(index.begin() + kFirst, index.begin() + kSecond, index.end());
  });
  FileReader reader = OpenBytes(bytes);
  EXPECT_EQ(reader.name(0), "a");
  EXPECT_EQ(reader.Find("b"), 1u);
}

TEST(HostileFile, FlaggedAsSortedMustBe) {
  auto bytes = FileBytes({{"b", Small()}, {"a", Small()}});
  bytes[12] = static_cast<uint8_t>(kFileHasIndexCrc | kFileIsSorted);
  EXPECT_THAT([&] { OpenBytes(bytes); }, ThrowsCode(ErrorCode::kFile, "flagged as sorted"));
  bytes = FileBytes({{"a", Small()}, {"b", Small()}});
  bytes[12] = static_cast<uint8_t>(kFileHasIndexCrc | kFileIsSorted);
  EXPECT_EQ(OpenBytes(bytes).entry_count(), 2u);
}

TEST(HostileFile, MayBeOfANewerMinorVersion) {
  auto bytes = FileBytes({{"a", Small()}});
  bytes[10] = 1;  // reserved
  EXPECT_THAT([&] { OpenBytes(bytes); }, ThrowsCode(ErrorCode::kFile, "reserved"));
  bytes[9] = 1;  // container_version_minor
  EXPECT_EQ(OpenBytes(bytes).entry_count(), 1u);
  bytes[12] = 0x84;
  EXPECT_THAT([&] { OpenBytes(bytes); }, ThrowsCode(ErrorCode::kFile, "file_flags"));
}

}  // namespace
}  // namespace hurray
