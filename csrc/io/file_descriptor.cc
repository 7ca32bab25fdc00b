#include "io/file_descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

constexpr size_t kMostPieces = 1024;            // IOV_MAX of Linux
constexpr size_t kMostBytes = size_t{1} << 30;  // a call moves less than 2 GiB anyway

struct Batch {
  size_t count = 0;  // pieces
  size_t bytes = 0;
};

// A stretch of the pieces that one call can take, from `skip` bytes into the first of them.
Batch NextBatch(std::span<const iovec> pieces, size_t skip, std::array<iovec, kMostPieces>& batch) {
  auto [count, bytes] = Batch();
  for (const iovec& piece : pieces) {
    if (count == kMostPieces || bytes >= kMostBytes) break;
    auto* start = static_cast<uint8_t*>(piece.iov_base) + skip;
    size_t size = std::min(piece.iov_len - skip, kMostBytes - bytes);
    skip = 0;
    batch[count++] = {start, size};
    bytes += size;
  }
  return {count, bytes};
}

}  // namespace

void ThrowSystemError(std::string_view action, const std::string& path) {
  int number = errno;
  std::string what = path.empty() ? "the descriptor" : StrCat("'", path, "'");
  throw SystemError(number, StrCat("cannot ", action, " ", what, ": ", std::strerror(number)),
                    path);
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

FileDescriptor FileDescriptor::Open(const std::string& path, int flags, mode_t mode,
                                    Checkpoint& checkpoint, std::string shown) {
  if (shown.empty()) shown = path;
  for (;;) {
    int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (fd >= 0) return FileDescriptor(fd, std::move(shown));
    if (errno != EINTR) ThrowSystemError("open", shown);
    checkpoint.Interrupt();
  }
}

struct stat FileDescriptor::Status() const {
  struct stat status;
  if (::fstat(fd_, &status) != 0) Throw("examine");
  return status;
}

size_t FileDescriptor::ReadSome(std::span<uint8_t> out, Checkpoint& checkpoint) const {
  for (;;) {
    ssize_t count = ::read(fd_, out.data(), std::min<size_t>(out.size(), Checkpoint::kInterval));
    if (count >= 0) {
      checkpoint.Advance(static_cast<uint64_t>(count));
      return static_cast<size_t>(count);
    }
    HandleFailure("read", POLLIN, checkpoint);
  }
}

void FileDescriptor::ReadAt(uint64_t offset, std::span<uint8_t> out, Checkpoint& checkpoint) const {
  while (!out.empty()) {
    size_t wanted = std::min<size_t>(out.size(), Checkpoint::kInterval);
    ssize_t count = ::pread(fd_, out.data(), wanted, static_cast<off_t>(offset));
    if (count < 0) {
      HandleFailure("read", POLLIN, checkpoint);
      continue;
    }
    if (count == 0) {
      throw Error(ErrorCode::kFile, StrCat("'", path_, "' ends at byte ", offset, ", ", out.size(),
                                           " more bytes are needed"));
    }
    offset += static_cast<uint64_t>(count);
    out = out.subspan(static_cast<size_t>(count));
    checkpoint.Advance(static_cast<uint64_t>(count));
  }
}

void FileDescriptor::WriteAll(std::span<const iovec> pieces, Checkpoint& checkpoint) const {
  std::array<iovec, kMostPieces> batch;
  size_t skip = 0;  // bytes of the first piece that are written already
  while (!pieces.empty()) {
    auto [count, wanted] = NextBatch(pieces, skip, batch);
    ssize_t result = ::writev(fd_, batch.data(), static_cast<int>(count));
    if (result < 0) {
      HandleFailure("write", POLLOUT, checkpoint);
      continue;
    }
    checkpoint.Advance(static_cast<uint64_t>(result));
    skip += static_cast<size_t>(result);
    // Written in part: perhaps a signal came while it waited for the rest.
    bool is_short = static_cast<size_t>(result) < wanted;
    while (!pieces.empty() && skip >= pieces[0].iov_len) {
      skip -= pieces[0].iov_len;
      pieces = pieces.subspan(1);
    }
    if (is_short) checkpoint.Interrupt();
  }
}

void FileDescriptor::Sync() const {
  if (::fsync(fd_) != 0) Throw("sync");
}

void FileDescriptor::Close() {
  int fd = std::exchange(fd_, -1);
  // After EINTR the descriptor is gone all the same, and closing it again could hit another one.
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) Throw("close");
}

void FileDescriptor::Throw(std::string_view action) const { ThrowSystemError(action, path_); }

void FileDescriptor::HandleFailure(std::string_view action, short wait_for,
                                   Checkpoint& checkpoint) const {
  if (errno == EINTR) {
    checkpoint.Interrupt();
    return;
  }
  if (errno != EAGAIN && errno != EWOULDBLOCK) Throw(action);
  // The descriptor does not block, as that of a Python socket with a timeout.
  pollfd waiting{fd_, wait_for, 0};
  if (::poll(&waiting, 1, -1) < 0) {
    if (errno != EINTR) Throw(action);
    checkpoint.Interrupt();
  }
}

}  // namespace hurray
