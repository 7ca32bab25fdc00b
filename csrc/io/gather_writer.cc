#include "io/gather_writer.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

namespace hurray {

namespace {

constexpr size_t kMostPieces = 1024;  // IOV_MAX of Linux
constexpr size_t kWorthAPiece = 512;  // bytes; fewer are copied faster than they are described
alignas(4096) constexpr std::array<uint8_t, 4096> kZeros{};

}  // namespace

GatherWriter::GatherWriter(Sink& sink, Checkpoint& checkpoint)
    : sink_(sink), checkpoint_(checkpoint), scratch_(new uint8_t[kMostScratch]) {
  pieces_.reserve(kMostPieces);
}

void GatherWriter::Write(std::span<const uint8_t> bytes) {
  if (bytes.size() < kWorthAPiece) {
    if (!bytes.empty()) std::memcpy(Scratch(bytes.size()).data(), bytes.data(), bytes.size());
    return;
  }
  while (!bytes.empty()) {
    if (IsFull()) Flush();
    auto piece = bytes.first(std::min<size_t>(bytes.size(), Checkpoint::kInterval));
    Add(piece.data(), piece.size());
    bytes = bytes.subspan(piece.size());
  }
}

void GatherWriter::WriteZeros(uint64_t count) {
  while (count > 0) {
    auto piece = static_cast<size_t>(std::min<uint64_t>(count, kZeros.size()));
    Write({kZeros.data(), piece});
    count -= piece;
  }
}

std::span<uint8_t> GatherWriter::Scratch(size_t size) {
  assert(size <= kMostScratch);
  if (IsFull() || size > kMostScratch - scratch_used_) Flush();
  uint8_t* start = scratch_.get() + scratch_used_;
  scratch_used_ += size;
  Add(start, size);
  return {start, size};
}

void GatherWriter::Flush() {
  if (!pieces_.empty()) sink_.Write(pieces_, checkpoint_);
  pieces_.clear();
  pending_ = 0;
  scratch_used_ = 0;
}

bool GatherWriter::IsFull() const noexcept {
  return pieces_.size() == kMostPieces || pending_ >= Checkpoint::kInterval;
}

void GatherWriter::Add(const uint8_t* start, size_t size) {
  pending_ += size;
  position_ += size;
  if (!pieces_.empty()) {
    iovec& last = pieces_.back();
    if (static_cast<uint8_t*>(last.iov_base) + last.iov_len == start) {
      last.iov_len += size;
      return;
    }
  }
  // A sink only reads; iovec has no const because the same struct serves for reading in.
  pieces_.push_back({const_cast<uint8_t*>(start), size});
}

}  // namespace hurray
