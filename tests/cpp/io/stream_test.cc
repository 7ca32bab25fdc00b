#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <set>
#include <thread>

#include "guarded_bytes.h"
#include "io/io_testing.h"

namespace hurray {
namespace {

// ---- round trips

void ExpectSampleItems(const std::vector<Item>& got) {
  auto wanted = SampleItems();
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(SameItem(got[i], wanted[i].item)) << wanted[i].name;
  }
}

TEST(Stream, ComesBackFromMemory) {
  ExpectSampleItems(AllItems(ReaderOf(StreamBytes(SampleItems()))));
}

TEST(Stream, OfNothingIsEmpty) {
  EXPECT_EQ(StreamBytes({}), Bytes(""));
  EXPECT_TRUE(AllItems(ReaderOf({})).empty());
}

TEST(Stream, IsDescriptorAndBuffersWithoutPadding) {
  TensorData tensor = Filled(Described(ElementTypes::kInt8, {5}, RowMajorLayout{}, {5, 0, 70}));
  std::vector<uint8_t> wanted = tensor.descriptor.Encode();
  for (const Buffer& buffer : tensor.buffers) {
    wanted.insert(wanted.end(), buffer.bytes().begin(), buffer.bytes().end());
  }
  EXPECT_EQ(StreamBytes({{"t", tensor}}), wanted);
}

TEST(Stream, HasOnlyTheDeclaredBytesOfALongerBuffer) {
  TensorData tensor = Filled(Dense(ElementTypes::kInt8, {5}));
  size_t size = StreamBytes({{"t", tensor}}).size();
  tensor.buffers[0] = Buffer::CopyOf(Pattern(1000));
  EXPECT_EQ(StreamBytes({{"t", tensor}}).size(), size);
}

TEST(Stream, ComesBackFromAFile) {
  TemporaryFolder folder;
  WriteWholeFile(folder / "stream", StreamBytes(SampleItems()));
  Checkpoint checkpoint;
  auto file = FileDescriptor::Open(folder / "stream", O_RDONLY, 0, checkpoint);
  ExpectSampleItems(
      AllItems(StreamReader(std::make_unique<DescriptorStream>(std::move(file)), {})));
}

TEST(Stream, ComesBackFromAPipeWrittenByteByByte) {
  auto bytes = StreamBytes(SampleItems());
  Pipe pipe;
  std::thread writer([&] {
    Checkpoint checkpoint;
    for (uint8_t& byte : bytes) {
      iovec piece{&byte, 1};
      pipe.writing.WriteAll({&piece, 1}, checkpoint);
    }
    pipe.writing.Close();
  });
  ExpectSampleItems(
      AllItems(StreamReader(std::make_unique<DescriptorStream>(std::move(pipe.reading)), {})));
  writer.join();
}

TEST(Stream, WithLargeTensorsComesBackFromAPipe) {
  std::vector<NamedItem> items;
  items.push_back({"a", Filled(Dense(ElementTypes::kInt8, {(5 << 20) + 3}), 1)});
  items.push_back({"b", Filled(Dense(ElementTypes::kInt8, {(3 << 20) + 1}), 2)});
  Pipe pipe;
  std::thread writing([&] {
    Checkpoint checkpoint;
    StreamWriter writer(std::make_unique<DescriptorSink>(std::move(pipe.writing)), false);
    for (const NamedItem& item : items) writer.Write(item.item, checkpoint);
  });
  auto got =
      AllItems(StreamReader(std::make_unique<DescriptorStream>(std::move(pipe.reading)), {}));
  writing.join();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(SameItem(got[0], items[0].item));
  EXPECT_TRUE(SameItem(got[1], items[1].item));
}

TEST(Stream, IsReadFromTheDescriptorsPositionAndNotBeyondAnItem) {
  TemporaryFolder folder;
  TensorData tensor = Filled(Dense(ElementTypes::kInt8, {5}));
  std::vector<uint8_t> bytes = StreamBytes({{"t", tensor}, {"t", tensor}});
  bytes.insert(bytes.begin(), 3, 0xEE);
  WriteWholeFile(folder / "stream", bytes);
  Checkpoint checkpoint;
  auto file = FileDescriptor::Open(folder / "stream", O_RDONLY, 0, checkpoint);
  ASSERT_EQ(::lseek(file.get(), 3, SEEK_SET), 3);
  int same_position = ::dup(file.get());
  StreamReader reader(std::make_unique<DescriptorStream>(std::move(file)), {});
  ASSERT_TRUE(reader.Next(checkpoint));
  EXPECT_EQ(::lseek(same_position, 0, SEEK_CUR), static_cast<off_t>(3 + (bytes.size() - 3) / 2));
  ::close(same_position);
}

TEST(Stream, PutsBuffersWhereTheirHandlesSay) {
  BufferTable table(1);
  table[0] = {100, 1 << 16, Device{}, SyncMode::kProducerSynced};
  TensorDescriptor descriptor(ElementTypes::kInt8, ShapeOf({100}), RowMajorLayout{}, table);
  auto got = AllItems(ReaderOf(StreamBytes({{"t", Filled(descriptor)}})));
  ASSERT_EQ(got.size(), 1u);
  const Buffer& buffer = std::get<TensorData>(got[0]).buffers[0];
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % (1 << 16), 0u);
  EXPECT_EQ(got[0].descriptor(), descriptor);
}

TEST(Stream, GivesMembersTheirRolesOnlyWhereTheyAreWritten) {
  CompositeData overlay = CorrectedRows();
  auto bytes = StreamBytes({{"o", overlay}});
  auto got = AllItems(ReaderOf(bytes));
  ASSERT_EQ(got.size(), 1u);
  for (const Item& member : std::get<CompositeData>(got[0]).members) {
    EXPECT_FALSE(member.descriptor().member_role());
  }
  // The base's descriptor, behind the head's, as it lies in the stream.
  auto base = TensorDescriptor::Decode(std::span(bytes).subspan(overlay.head.encoded_size()));
  EXPECT_EQ(base.member_role(), MemberRole::kBase);
}

// ---- hostile input

TEST(Stream, CutShortAnywhereIsTorn) {
  auto bytes = StreamBytes(SampleItems());
  std::set<size_t> ends{0};
  for (size_t i = 1; i <= SampleItems().size(); ++i) {
    auto items = SampleItems();
    items.erase(items.begin() + static_cast<ptrdiff_t>(i), items.end());
    ends.insert(StreamBytes(items).size());
  }
  ForEveryShorterInput(bytes, [&](std::span<const uint8_t> input) {
    auto code =
        CodeOf([&] { AllItems(StreamReader(std::make_unique<MemoryStream>(InPlace(input)), {})); });
    bool is_clean = ends.contains(input.size());
    ASSERT_EQ(code, is_clean ? std::nullopt : std::optional(ErrorCode::kStream));
  });
}

TEST(Stream, ChangedAnywhereIsReadWithoutHarm) {
  auto bytes = StreamBytes(SampleItems());
  for (size_t i = 0; i < bytes.size(); ++i) {
    WithByteChanged(bytes, i, [&] {
      auto code = CodeOf(
          [&] { AllItems(StreamReader(std::make_unique<MemoryStream>(InPlace(bytes)), {})); });
      if (code) {
        ASSERT_TRUE(*code == ErrorCode::kStream || *code == ErrorCode::kInvalidDescriptor) << i;
      }
    });
  }
}

struct Hostile {
  const char* name;
  std::vector<uint8_t> bytes;
  ErrorCode code;
  const char* message;
};

std::vector<uint8_t> Changed(std::vector<uint8_t> bytes, size_t at, const std::string& by) {
  auto patch = Bytes(by);
  std::copy(patch.begin(), patch.end(), bytes.begin() + static_cast<ptrdiff_t>(at));
  return bytes;
}

// An int8 tensor of shape [8]: its handle is at byte 37 of the descriptor.
std::vector<uint8_t> Eight() {
  return StreamBytes({{"t", Filled(Dense(ElementTypes::kInt8, {8}))}});
}

std::vector<uint8_t> HeadsInEachOther(size_t count) {
  std::vector<uint8_t> bytes;
  auto head = Head(CompositionRule::kGroup, CombineOp::kNone, 1, {}).Encode();
  for (size_t i = 0; i < count; ++i) bytes.insert(bytes.end(), head.begin(), head.end());
  return bytes;
}

class HostileStream : public testing::TestWithParam<Hostile> {};

TEST_P(HostileStream, IsRefusedAndEndsTheReader) {
  StreamReader reader = ReaderOf(GetParam().bytes);
  Checkpoint checkpoint;
  EXPECT_THAT([&] { reader.Next(checkpoint); }, ThrowsCode(GetParam().code, GetParam().message));
  EXPECT_FALSE(reader.Next(checkpoint));
}

// The same through a pipe, whose length nobody knows beforehand.
TEST_P(HostileStream, IsRefusedFromAPipe) {
  Pipe pipe;
  std::thread writing([&] {
    ::signal(SIGPIPE, SIG_IGN);
    std::vector<uint8_t> bytes = GetParam().bytes;
    iovec piece{bytes.data(), bytes.size()};
    Checkpoint checkpoint;
    try {
      pipe.writing.WriteAll({&piece, 1}, checkpoint);
    } catch (const SystemError&) {
      // The reader left before the end.
    }
    pipe.writing.Close();
  });
  Checkpoint checkpoint;
  {
    StreamReader reader(std::make_unique<DescriptorStream>(std::move(pipe.reading)), {});
    EXPECT_THAT([&] { reader.Next(checkpoint); }, ThrowsCode(GetParam().code));
  }
  writing.join();
}

INSTANTIATE_TEST_SUITE_P(
    Cases, HostileStream,
    testing::Values(
        Hostile{"BadMagic", Changed(Eight(), 0, "00"), ErrorCode::kStream, "magic"},
        Hostile{"Major2", Changed(Eight(), 4, "02"), ErrorCode::kStream, "version_major is 2"},
        Hostile{"AFile", FileBytes({}), ErrorCode::kStream, "version_major is 70"},
        Hostile{"LengthBelow20", Changed(Eight(), 6, "13000000"), ErrorCode::kStream, "is 19"},
        Hostile{"LengthAboveTheLimit", Changed(Eight(), 6, "01000001"), ErrorCode::kStream,
                "max_descriptor_bytes is 16777216"},
        Hostile{"LengthOf16MiB", Changed(Eight(), 6, "00000001"), ErrorCode::kStream, "ends after"},
        Hostile{"UnknownFlag", Changed(Eight(), 10, "20"), ErrorCode::kInvalidDescriptor, "flags"},
        Hostile{"Buffer3GiB", Changed(Eight(), 37, "000000C000000000"), ErrorCode::kStream, "ends"},
        Hostile{"BufferOf2To63", Changed(Eight(), 37, "0000000000000080"), ErrorCode::kStream,
                "ends"},
        Hostile{"Alignment0", Changed(Eight(), 45, "00000000"), ErrorCode::kInvalidDescriptor,
                "alignment"},
        Hostile{"BillionsOfMembers",
                Head(CompositionRule::kGroup, CombineOp::kNone, 0xFFFFFFFE, {}).Encode(),
                ErrorCode::kStream, "inside a composite"},
        Hostile{"NineHeads", HeadsInEachOther(9), ErrorCode::kInvalidDescriptor, "9 heads"},
        Hostile{"TwentyThousandHeads", HeadsInEachOther(20000), ErrorCode::kInvalidDescriptor,
                "heads"}),
    [](const auto& row) { return row.param.name; });

TEST(Stream, EndsInsideAComposite) {
  auto bytes = StreamBytes({{"c", TwoRows()}});
  // Both rows have the same length, which is what is cut off.
  bytes.resize(bytes.size() - StreamBytes({{"t", Row(1, 2)}}).size());
  EXPECT_THAT([&] { AllItems(ReaderOf(bytes)); },
              ThrowsCode(ErrorCode::kStream, "inside a composite"));
}

TEST(Stream, TakesACompositeOfEightLevels) {
  EXPECT_EQ(AllItems(ReaderOf(StreamBytes({{"c", Nested(8)}}))).size(), 1u);
  EXPECT_THAT([] { StreamBytes({{"c", Nested(9)}}); }, ThrowsCode(ErrorCode::kInvalidDescriptor));
}

// ---- limits

TEST(StreamLimits, CountEachDescriptorAndEachBufferAlone) {
  auto bytes =
      StreamBytes({{"t", Filled(Described(ElementTypes::kInt8, {5}, RowMajorLayout{}, {50, 60}))}});
  StreamLimits limits;
  limits.max_descriptor_bytes = 69;  // what this descriptor has
  limits.max_buffer_bytes = 60;
  EXPECT_EQ(AllItems(ReaderOf(bytes, limits)).size(), 1u);
  limits.max_buffer_bytes = 59;
  EXPECT_THAT([&] { AllItems(ReaderOf(bytes, limits)); },
              ThrowsCode(ErrorCode::kStream, "60 bytes, max_buffer_bytes is 59"));
  limits.max_descriptor_bytes = 68;
  EXPECT_THAT([&] { AllItems(ReaderOf(bytes, limits)); },
              ThrowsCode(ErrorCode::kStream, "is 69, max_descriptor_bytes is 68"));
}

TEST(StreamLimits, CountCompositesInEachOther) {
  auto bytes = StreamBytes({{"c", Nested(3)}});
  StreamLimits limits;
  limits.max_composite_depth = 3;
  EXPECT_EQ(AllItems(ReaderOf(bytes, limits)).size(), 1u);
  limits.max_composite_depth = 2;
  EXPECT_THAT([&] { AllItems(ReaderOf(bytes, limits)); },
              ThrowsCode(ErrorCode::kStream, "3 deep, max_composite_depth is 2"));
  limits.max_composite_depth = 0;
  EXPECT_EQ(AllItems(ReaderOf(Eight(), limits)).size(), 1u);
}

TensorData NotSynced() {
  BufferTable table(1);
  table[0] = {8, 64, Device{0x01, 0x00}, SyncMode::kEvent};
  return Filled(TensorDescriptor(ElementTypes::kInt8, ShapeOf({8}), RowMajorLayout{}, table));
}

TEST(StreamBetweenMachines, CarriesOnlySyncedBuffers) {
  auto bytes = StreamBytes({{"t", NotSynced()}});
  EXPECT_EQ(AllItems(ReaderOf(bytes)).size(), 1u);
  StreamLimits limits;
  limits.cross_machine = true;
  EXPECT_EQ(AllItems(ReaderOf(Eight(), limits)).size(), 1u);
  EXPECT_THAT([&] { AllItems(ReaderOf(bytes, limits)); }, ThrowsCode(ErrorCode::kStream, "event"));
}

TEST(StreamBetweenMachines, IsNotBegunForACompositeThatCannotBeCarried) {
  StreamWriter writer(std::make_unique<MemorySink>(), true);
  std::vector<Item> members;
  members.push_back(Filled(Dense(ElementTypes::kInt8, {8})));
  members.push_back(NotSynced());
  Item group = Group(std::move(members));
  Checkpoint checkpoint;
  EXPECT_THAT([&] { writer.Write(group, checkpoint); }, ThrowsCode(ErrorCode::kStream, "event"));
  EXPECT_TRUE(static_cast<MemorySink&>(writer.sink()).bytes().empty());
}

// ---- what is written

TEST(StreamWriter, WritesNothingOfAnItemThatIsNotWhole) {
  StreamWriter writer(std::make_unique<MemorySink>(), false);
  Checkpoint checkpoint;
  CompositeData torn = TwoRows();
  torn.members.pop_back();
  EXPECT_THAT([&] { writer.Write(torn, checkpoint); }, ThrowsCode(ErrorCode::kInvalidDescriptor));
  TensorData short_buffer = Filled(Dense(ElementTypes::kInt8, {8}));
  short_buffer.buffers[0] = Buffer::CopyOf(Pattern(7));
  EXPECT_THAT([&] { writer.Write(short_buffer, checkpoint); }, ThrowsCode(ErrorCode::kBuffer));
  short_buffer.buffers.clear();
  EXPECT_THAT([&] { writer.Write(short_buffer, checkpoint); }, ThrowsCode(ErrorCode::kBuffer));
  EXPECT_TRUE(static_cast<MemorySink&>(writer.sink()).bytes().empty());
}

TEST(StreamReader, IsAtItsEndOnceClosed) {
  StreamReader reader = ReaderOf(Eight());
  reader.Close();
  Checkpoint checkpoint;
  EXPECT_FALSE(reader.Next(checkpoint));
}

TEST(StreamReader, StopsWhenItsCheckpointThrows) {
  struct Stop {};
  auto bytes = StreamBytes({{"t", Zeros(20 << 20)}});
  StreamReader reader = ReaderOf(bytes);
  Checkpoint checkpoint([](const Checkpoint&) { throw Stop(); });
  EXPECT_THROW(reader.Next(checkpoint), Stop);
  EXPECT_FALSE(reader.Next(checkpoint));
}

}  // namespace
}  // namespace hurray
