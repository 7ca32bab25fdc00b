#include "io/stream_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/str_cat.h"
#include "io/composite_tree.h"
#include "io/source.h"
#include "io/stream_writer.h"

namespace hurray {

namespace {

// Claimed by a stream that has not shown anything yet.
constexpr uint64_t kFirstTrust = uint64_t{1} << 20;

[[noreturn]] void Fail(const std::string& message) { throw Error(ErrorCode::kStream, message); }

}  // namespace

std::optional<Item> StreamReader::Next(Checkpoint& checkpoint) {
  if (stream_ == nullptr) return std::nullopt;
  try {
    auto item = Read(checkpoint);
    if (!item) Close();
    return item;
  } catch (...) {
    Close();
    throw;
  }
}

std::optional<Item> StreamReader::Read(Checkpoint& checkpoint) {
  auto descriptor = ReadDescriptor(checkpoint);
  if (!descriptor) return std::nullopt;
  if (IsVirtual(descriptor->layout())) return ReadComposite(*std::move(descriptor), checkpoint);
  return ReadTensor(*std::move(descriptor), checkpoint);
}

std::optional<TensorDescriptor> StreamReader::ReadDescriptor(Checkpoint& checkpoint) {
  constexpr size_t kUsual = 512;
  constexpr size_t kPrefix = TensorDescriptor::kPrefixSize;
  std::array<uint8_t, kUsual> usual;
  size_t count = stream_->Read(std::span(usual).first(kPrefix), checkpoint);
  if (count == 0) return std::nullopt;
  if (count < kPrefix) {
    Fail(StrCat("the stream ends after ", count, " bytes of a descriptor, which begins with ",
                kPrefix));
  }
  uint32_t length;
  try {
    length = TensorDescriptor::DeclaredLength(std::span(usual).first(kPrefix));
  } catch (const Error& error) {
    Fail(StrCat("no tensor starts here: ", error.what()));
  }
  if (length > limits_.max_descriptor_bytes) {
    Fail(StrCat("descriptor_length is ", length, ", max_descriptor_bytes is ",
                limits_.max_descriptor_bytes));
  }
  if (length <= kUsual) {
    Fill(std::span(usual).subspan(kPrefix, length - kPrefix), kPrefix, length, "a descriptor",
         checkpoint);
    return TensorDescriptor::Decode(std::span(usual).first(length), limits_.mode);
  }
  std::vector<uint8_t> large(usual.begin(), usual.begin() + kPrefix);
  while (large.size() < length) {
    size_t before = large.size();
    large.resize(std::min<size_t>(length, std::max<size_t>(2 * before, kFirstTrust)));
    Fill(std::span(large).subspan(before), before, length, "a descriptor", checkpoint);
  }
  return TensorDescriptor::Decode(large, limits_.mode);
}

Item StreamReader::ReadComposite(TensorDescriptor head, Checkpoint& checkpoint) {
  CheckDepth(1);
  CompositeBuilder builder(std::move(head));
  while (!builder.complete()) {
    auto next = ReadDescriptor(checkpoint);
    if (!next) Fail("the stream ends inside a composite: more members are needed");
    bool is_head = IsVirtual(next->layout());
    if (is_head) CheckDepth(builder.depth() + 1);
    builder.Check(*next);
    if (is_head) {
      builder.AddHead(*std::move(next));
    } else {
      builder.Add(ReadTensor(*std::move(next), checkpoint));
    }
  }
  return builder.Take();
}

void StreamReader::CheckDepth(uint64_t depth) const {
  if (depth > limits_.max_composite_depth) {
    Fail(StrCat("composites are nested ", depth, " deep, max_composite_depth is ",
                limits_.max_composite_depth));
  }
}

TensorData StreamReader::ReadTensor(TensorDescriptor descriptor, Checkpoint& checkpoint) {
  if (limits_.cross_machine) CheckCrossMachine(descriptor);
  std::vector<Buffer> buffers;
  buffers.reserve(descriptor.buffers().size());
  for (const BufferHandle& handle : descriptor.buffers()) {
    buffers.push_back(ReadBuffer(handle, buffers.size(), checkpoint));
  }
  return {std::move(descriptor), std::move(buffers)};
}

Buffer StreamReader::ReadBuffer(const BufferHandle& handle, size_t index, Checkpoint& checkpoint) {
  uint64_t total = handle.byte_size;
  if (total > limits_.max_buffer_bytes) {
    Fail(StrCat("buffer ", index, " has ", total, " bytes, max_buffer_bytes is ",
                limits_.max_buffer_bytes));
  }
  if (auto left = stream_->Remaining(); left && total > *left) {
    Fail(StrCat("the stream ends inside buffer ", index, ": it has ", total, " bytes, ", *left,
                " are left"));
  }
  size_t alignment = std::clamp<size_t>(handle.alignment, kMinBufferAlignment, kMostAlignment);
  auto capacity = static_cast<size_t>(std::min(total, Trusted()));
  Buffer buffer = Buffer::Allocate(capacity, alignment);
  for (size_t filled = 0;;) {
    Fill({buffer.data() + filled, capacity - filled}, filled, total, "a buffer", checkpoint);
    received_ += capacity - filled;
    if (capacity == total) return buffer;
    filled = capacity;
    capacity = static_cast<size_t>(std::min(total, 2 * uint64_t{filled}));
    Buffer larger = Buffer::Allocate(capacity, alignment);
    std::memcpy(larger.data(), buffer.data(), filled);
    buffer = std::move(larger);
  }
}

void StreamReader::Fill(std::span<uint8_t> out, uint64_t before, uint64_t total, const char* what,
                        Checkpoint& checkpoint) {
  size_t count = stream_->Read(out, checkpoint);
  if (count < out.size()) {
    Fail(StrCat("the stream ends after ", before + count, " of ", total, " bytes of ", what));
  }
}

uint64_t StreamReader::Trusted() const {
  if (auto left = stream_->Remaining()) return *left;
  return kFirstTrust + received_;
}

}  // namespace hurray
