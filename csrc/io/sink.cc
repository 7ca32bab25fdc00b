#include "io/sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <new>

namespace hurray {

namespace {

// Below this a file system finds room as fast while it is written to.
constexpr uint64_t kWorthClaiming = uint64_t{1} << 20;

}  // namespace

void Sink::Reserve(uint64_t, Checkpoint&) {}

void MemorySink::Reserve(uint64_t bytes, Checkpoint&) {
  if (bytes > bytes_.max_size() - bytes_.size()) throw std::bad_alloc();
  bytes_.reserve(bytes_.size() + static_cast<size_t>(bytes));
}

void MemorySink::Write(std::span<const iovec> pieces, Checkpoint& checkpoint) {
  for (const iovec& piece : pieces) {
    auto* start = static_cast<const uint8_t*>(piece.iov_base);
    bytes_.insert(bytes_.end(), start, start + piece.iov_len);
    checkpoint.Advance(piece.iov_len);
  }
}

void DescriptorSink::Reserve(uint64_t bytes, Checkpoint& checkpoint) {
  if (bytes < kWorthClaiming || !S_ISREG(file_.Status().st_mode)) return;
  off_t start = ::lseek(file_.get(), 0, SEEK_CUR);
  while (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, start, static_cast<off_t>(bytes)) != 0) {
    // Only an optimization, but one that can tell a full disk early.
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
      ThrowSystemError("write", file_.path());
    }
    if (errno != EINTR) return;
    checkpoint.Interrupt();
  }
}

void DescriptorSink::Write(std::span<const iovec> pieces, Checkpoint& checkpoint) {
  file_.WriteAll(pieces, checkpoint);
}

}  // namespace hurray
