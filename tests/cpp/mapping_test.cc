#include "storage/mapping.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "io/io_testing.h"
#include "testing.h"

namespace hurray {
namespace {

class MappedFile : public testing::TestWithParam<size_t> {
 protected:
  Buffer Map(size_t size) {
    FileDescriptor file(::open(path_.c_str(), O_RDONLY), path_);
    return MapFilePrivately(file.get(), size, GetParam());
  }

  std::vector<uint8_t> bytes_ = Pattern(10000);
  TemporaryFolder folder_;
  std::string path_ = folder_ / "file";

  void SetUp() override { WriteWholeFile(path_, bytes_); }
};

TEST_P(MappedFile, HasTheBytesAndTheAlignment) {
  Buffer buffer = Map(bytes_.size());
  EXPECT_EQ(ToVector(buffer.bytes()), bytes_);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % GetParam(), 0u);
  EXPECT_TRUE(buffer.owns_data());
}

TEST_P(MappedFile, IsWritableWithoutChangingTheFile) {
  Buffer buffer = Map(bytes_.size());
  ASSERT_TRUE(buffer.writable());
  buffer.data()[5000] ^= 0xFF;
  EXPECT_EQ(ReadWholeFile(path_), bytes_);
  EXPECT_NE(ToVector(buffer.bytes()), bytes_);
}

TEST_P(MappedFile, LivesAsLongAsItsLastSlice) {
  Buffer slice = Map(bytes_.size()).Slice(9000, 10);
  EXPECT_EQ(ToVector(slice.bytes()), std::vector(bytes_.begin() + 9000, bytes_.begin() + 9010));
}

TEST_P(MappedFile, OutlivesTheName) {
  Buffer buffer = Map(bytes_.size());
  ::unlink(path_.c_str());
  EXPECT_EQ(ToVector(buffer.bytes()), bytes_);
}

INSTANTIATE_TEST_SUITE_P(Alignments, MappedFile, testing::Values(1, 64, 4096, 65536, 2 << 20));

TEST(Mapping, OfADescriptorThatIsNoneFails) {
  try {
    MapFilePrivately(-1, 4096, 4096);
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_EQ(error.error_number(), EBADF);
  }
}

TEST(Mapping, OfMoreThanTheAddressSpaceFails) {
  TemporaryFolder folder;
  WriteWholeFile(folder / "file", Pattern(100));
  FileDescriptor file(::open((folder / "file").c_str(), O_RDONLY), "");
  for (size_t alignment : {4096u, 2u << 20}) {
    EXPECT_THAT([&] { MapFilePrivately(file.get(), SIZE_MAX / 2, alignment); },
                ThrowsCode(ErrorCode::kFile, "map"));
  }
}

}  // namespace
}  // namespace hurray
