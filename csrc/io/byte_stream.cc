#include "io/byte_stream.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace hurray {

size_t MemoryStream::Read(std::span<uint8_t> out, Checkpoint& checkpoint) {
  size_t total = std::min(out.size(), bytes_.size() - position_);
  for (size_t done = 0; done < total;) {
    size_t piece = std::min<size_t>(total - done, Checkpoint::kInterval);
    std::memcpy(out.data() + done, bytes_.data() + position_, piece);
    position_ += piece;
    done += piece;
    checkpoint.Advance(piece);
  }
  return total;
}

DescriptorStream::DescriptorStream(FileDescriptor file)
    : file_(std::move(file)), is_regular_(S_ISREG(file_.Status().st_mode)) {}

size_t DescriptorStream::Read(std::span<uint8_t> out, Checkpoint& checkpoint) {
  size_t done = 0;
  while (done < out.size()) {
    size_t count = file_.ReadSome(out.subspan(done), checkpoint);
    if (count == 0) break;
    done += count;
  }
  return done;
}

std::optional<uint64_t> DescriptorStream::Remaining() const {
  if (!is_regular_) return std::nullopt;
  off_t position = ::lseek(file_.get(), 0, SEEK_CUR);
  off_t size = file_.Status().st_size;
  // Some files claim to be empty and are not, as those under /proc.
  if (position < 0 || size == 0) return std::nullopt;
  return position < size ? static_cast<uint64_t>(size - position) : 0;
}

}  // namespace hurray
