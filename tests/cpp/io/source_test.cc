#include "io/source.h"

#include <sys/stat.h>

#include <cerrno>

#include "io/io_testing.h"

namespace hurray {
namespace {

enum class Kind { kMap, kRead, kMemory };

class EverySource : public testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Source> Open() {
    if (GetParam() == Kind::kMemory) return MemorySource(Buffer::CopyOf(bytes_, 4096));
    WriteWholeFile(folder_ / "file", bytes_);
    return OpenSource(folder_ / "file",
                      GetParam() == Kind::kMap ? FileAccess::kMap : FileAccess::kRead, checkpoint_);
  }

  TemporaryFolder folder_;
  Checkpoint checkpoint_;
  std::vector<uint8_t> bytes_ = Pattern(20000);
};

TEST_P(EverySource, ReadsBytesFromAnywhere) {
  auto source = Open();
  EXPECT_EQ(source->size(), bytes_.size());
  std::vector<uint8_t> got(77);
  source->ReadAt(12345, got, checkpoint_);
  EXPECT_EQ(got, std::vector(bytes_.begin() + 12345, bytes_.begin() + 12345 + 77));
  source->ReadAt(20000, {}, checkpoint_);
}

TEST_P(EverySource, GivesBuffersOnTheBoundaryAskedFor) {
  auto source = Open();
  for (uint64_t offset : {0u, 64u, 4096u, 8192u + 64, 12289u}) {
    for (size_t alignment : {64u, 4096u, 65536u}) {
      Buffer buffer = source->BufferAt(offset, 1000, alignment, checkpoint_);
      EXPECT_TRUE(std::ranges::equal(buffer.bytes(), std::span(bytes_).subspan(offset, 1000)));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % alignment, 0u);
      EXPECT_TRUE(buffer.writable());
    }
  }
}

TEST_P(EverySource, GivesEmptyBuffersAnywhere) {
  auto source = Open();
  EXPECT_EQ(source->BufferAt(0, 0, 64, checkpoint_).size(), 0u);
  EXPECT_EQ(source->BufferAt(20000, 0, 4096, checkpoint_).size(), 0u);
}

TEST_P(EverySource, GivesBuffersThatOutliveIt) {
  auto source = Open();
  Buffer buffer = source->BufferAt(4096, 100, 64, checkpoint_);
  source.reset();
  EXPECT_TRUE(std::ranges::equal(buffer.bytes(), std::span(bytes_).subspan(4096, 100)));
}

TEST_P(EverySource, SharesWhatIsAlignedUnlessItReads) {
  auto source = Open();
  Buffer a = source->BufferAt(4096, 100, 64, checkpoint_);
  Buffer b = source->BufferAt(4096, 100, 64, checkpoint_);
  EXPECT_EQ(a.data() == b.data(), GetParam() != Kind::kRead);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EverySource,
                         testing::Values(Kind::kMap, Kind::kRead, Kind::kMemory));

TEST(MappedSource, PlacesTheFileWhereItsOwnAlignmentHolds) {
  TemporaryFolder folder;
  Checkpoint checkpoint;
  std::vector<uint8_t> bytes = Pattern((2 << 20) + 100);
  WriteWholeFile(folder / "file", bytes);
  auto source = OpenSource(folder / "file", FileAccess::kMap, checkpoint);
  source->Expect(2 << 20, 2 << 20);
  Buffer a = source->BufferAt(2 << 20, 100, 2 << 20, checkpoint);
  Buffer b = source->BufferAt(2 << 20, 100, 2 << 20, checkpoint);
  EXPECT_EQ(a.data(), b.data());  // shared, so it was where it should be
  EXPECT_TRUE(std::ranges::equal(a.bytes(), std::span(bytes).subspan(2 << 20)));
}

TEST(MappedSource, ReadsTheSameWhetherMuchOrLittleIsAskedFor) {
  TemporaryFolder folder;
  Checkpoint checkpoint;
  std::vector<uint8_t> bytes = Pattern(20000);
  WriteWholeFile(folder / "file", bytes);
  for (uint64_t spacing : {100u, 1u << 20}) {
    auto source = OpenSource(folder / "file", FileAccess::kMap, checkpoint);
    source->Expect(4096, spacing);
    std::vector<uint8_t> got(5000);
    source->ReadAt(15000, got, checkpoint);
    EXPECT_TRUE(std::ranges::equal(got, std::span(bytes).subspan(15000)));
  }
}

TEST(ReadSource, TellsThatAFileWasCutShort) {
  TemporaryFolder folder;
  Checkpoint checkpoint;
  WriteWholeFile(folder / "file", Pattern(5000));
  auto source = OpenSource(folder / "file", FileAccess::kRead, checkpoint);
  std::filesystem::resize_file(folder / "file", 4000);
  EXPECT_THAT([&] { source->BufferAt(3000, 2000, 64, checkpoint); },
              ThrowsCode(ErrorCode::kFile, "ends at byte 4000"));
}

int ErrorOfOpening(const std::string& path) {
  Checkpoint checkpoint;
  try {
    OpenSource(path, FileAccess::kMap, checkpoint);
    return 0;
  } catch (const SystemError& error) {
    EXPECT_EQ(error.path(), path);
    return error.error_number();
  }
}

TEST(OpenSource, ReportsWhatTheSystemSays) {
  TemporaryFolder folder;
  EXPECT_EQ(ErrorOfOpening(folder / "nothing"), ENOENT);
  EXPECT_EQ(ErrorOfOpening(folder / "."), EISDIR);
}

TEST(OpenSource, DoesNotWaitForTheOtherEndOfAFifo) {
  TemporaryFolder folder;
  Checkpoint checkpoint;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THAT([&] { OpenSource(folder / "fifo", FileAccess::kRead, checkpoint); },
              ThrowsCode(ErrorCode::kFile, "no regular file"));
}

}  // namespace
}  // namespace hurray
