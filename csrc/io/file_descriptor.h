// File descriptors of the operating system: ownership, and calls that finish what they begin.
#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "io/checkpoint.h"

namespace hurray {

// Closes its descriptor when it dies. `path` is for messages; empty for what has no name.
class FileDescriptor {
 public:
  FileDescriptor() noexcept = default;
  FileDescriptor(int fd, std::string path) noexcept : fd_(fd), path_(std::move(path)) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  FileDescriptor& operator=(FileDescriptor other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(path_, other.path_);
    return *this;
  }
  ~FileDescriptor();

  // Closes on exec. Throws SystemError. Messages name `shown` where that is given.
  static FileDescriptor Open(const std::string& path, int flags, mode_t mode,
                             Checkpoint& checkpoint, std::string shown = {});

  int get() const noexcept { return fd_; }
  const std::string& path() const noexcept { return path_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

  struct stat Status() const;

  // Reads what is there, at most out.size() bytes; 0 only at the end. Waits if need be.
  size_t ReadSome(std::span<uint8_t> out, Checkpoint& checkpoint) const;
  // Fills `out` from byte `offset` on; throws kFile if the file ends before that.
  void ReadAt(uint64_t offset, std::span<uint8_t> out, Checkpoint& checkpoint) const;
  // Writes every byte of the pieces, in order.
  void WriteAll(std::span<const iovec> pieces, Checkpoint& checkpoint) const;

  // Writes everything down to the disk, of a file or a folder.
  void Sync() const;
  // Throws what closing reports, which for some file systems is where a full disk shows.
  void Close();

 private:
  [[noreturn]] void Throw(std::string_view action) const;
  // After a call failed: returns if it is worth another try.
  void HandleFailure(std::string_view action, short wait_for, Checkpoint& checkpoint) const;

  int fd_ = -1;
  std::string path_;
};

// Throws SystemError for the current errno.
[[noreturn]] void ThrowSystemError(std::string_view action, const std::string& path);

}  // namespace hurray
