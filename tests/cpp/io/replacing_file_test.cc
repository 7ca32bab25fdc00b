#include "io/replacing_file.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <cerrno>
#include <thread>

#include "io/io_testing.h"

namespace hurray {
namespace {

class ReplacedFile : public testing::Test {
 protected:
  void Replace(const std::string& path, const std::vector<uint8_t>& bytes, bool durable = false) {
    ReplacingFile file(path, checkpoint_);
    Write(file, bytes);
    file.Commit(durable);
  }
  void Write(ReplacingFile& file, const std::vector<uint8_t>& bytes) {
    iovec piece{const_cast<uint8_t*>(bytes.data()), bytes.size()};
    file.Write({&piece, 1}, checkpoint_);
  }
  int ErrorOf(const std::string& path) {
    try {
      Replace(path, new_);
      return 0;
    } catch (const SystemError& error) {
      EXPECT_EQ(error.path(), path);
      return error.error_number();
    }
  }
  mode_t ModeOf(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  Checkpoint checkpoint_;
  TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
  std::vector<uint8_t> old_ = Pattern(100, 1), new_ = Pattern(200, 2);
};

TEST_F(ReplacedFile, IsThereOnlyWhenCommitted) {
  ReplacingFile file(path_, checkpoint_);
  Write(file, new_);
  EXPECT_FALSE(std::filesystem::exists(path_));
  file.Commit(false);
  EXPECT_EQ(ReadWholeFile(path_), new_);
  EXPECT_EQ(folder_.file_count(), 1u);
}

TEST_F(ReplacedFile, StaysAsItWasWithoutACommit) {
  WriteWholeFile(path_, old_);
  {
    ReplacingFile file(path_, checkpoint_);
    Write(file, new_);
  }
  EXPECT_EQ(ReadWholeFile(path_), old_);
  EXPECT_EQ(folder_.file_count(), 1u);
}

TEST_F(ReplacedFile, KeepsWhatAnOpenDescriptorReads) {
  WriteWholeFile(path_, old_);
  FileDescriptor before = FileDescriptor::Open(path_, O_RDONLY, 0, checkpoint_);
  Replace(path_, new_, true);
  std::vector<uint8_t> got(old_.size());
  before.ReadAt(0, got, checkpoint_);
  EXPECT_EQ(got, old_);
  EXPECT_EQ(ReadWholeFile(path_), new_);
}

TEST_F(ReplacedFile, GetsThePermissionsOfTheUmaskWhenNew) {
  mode_t before = ::umask(027);
  Replace(path_, new_);
  ::umask(before);
  EXPECT_EQ(ModeOf(path_), 0640u);
}

TEST_F(ReplacedFile, KeepsThePermissionsItHad) {
  WriteWholeFile(path_, old_);
  ::chmod(path_.c_str(), 0604);
  Replace(path_, new_);
  EXPECT_EQ(ModeOf(path_), 0604u);
  EXPECT_EQ(ReadWholeFile(path_), new_);
}

TEST_F(ReplacedFile, BehindALinkLeavesTheLink) {
  WriteWholeFile(path_, old_);
  std::filesystem::create_directory(folder_ / "sub");
  std::filesystem::create_symlink("../file", folder_ / "sub/link");
  Replace(folder_ / "sub/link", new_);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "sub/link"));
  EXPECT_EQ(ReadWholeFile(path_), new_);
}

TEST_F(ReplacedFile, BehindALinkToNothingIsCreated) {
  std::filesystem::create_symlink("file", folder_ / "link");
  Replace(folder_ / "link", new_);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(ReadWholeFile(path_), new_);
}

TEST_F(ReplacedFile, BehindLinksInACircleIsRefused) {
  std::filesystem::create_symlink("b", folder_ / "a");
  std::filesystem::create_symlink("a", folder_ / "b");
  EXPECT_EQ(ErrorOf(folder_ / "a"), ELOOP);
}

TEST_F(ReplacedFile, IsRefusedWhereItCannotBe) {
  EXPECT_EQ(ErrorOf(folder_ / "no/file"), ENOENT);
  EXPECT_EQ(ErrorOf(folder_ / "."), EISDIR);
  EXPECT_EQ(ErrorOf(""), ENOENT);
  WriteWholeFile(path_, old_);
  EXPECT_EQ(ErrorOf(folder_ / "file/below"), ENOTDIR);
  EXPECT_EQ(folder_.file_count(), 1u);
}

TEST_F(ReplacedFile, IsWrittenThroughWhenItIsAFifo) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  std::vector<uint8_t> got;
  std::thread reader([&] { got = ReadWholeFile(path_); });
  Replace(path_, new_, true);
  reader.join();
  EXPECT_EQ(got, new_);
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

TEST_F(ReplacedFile, IsWrittenThroughWhenItIsADevice) {
  EXPECT_EQ(ErrorOf("/dev/null"), 0);
  EXPECT_EQ(ErrorOf("/dev/full"), ENOSPC);
}

// Root may write everywhere, so somebody else tries.
TEST_F(ReplacedFile, IsRefusedWithoutPermission) {
  WriteWholeFile(path_, old_);
  ::chmod(path_.c_str(), 0444);
  ::chmod((folder_ / ".").c_str(), 0777);
  pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    ::_exit(ErrorOf(path_) == EACCES ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(ReadWholeFile(path_), old_);
}

}  // namespace
}  // namespace hurray
