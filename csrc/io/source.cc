#include "io/source.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/str_cat.h"
#include "storage/mapping.h"

namespace hurray {

namespace {

bool IsAligned(const void* address, size_t alignment) noexcept {
  return reinterpret_cast<uintptr_t>(address) % alignment == 0;
}

// The slice itself if it is aligned, else a copy that is, made without touching the owner.
Buffer Aligned(const Buffer& whole, uint64_t offset, size_t size, size_t alignment) {
  auto start = static_cast<size_t>(offset);
  if (size == 0) return Buffer();
  if (IsAligned(whole.data() + start, alignment)) return whole.Slice(start, size);
  return Buffer::CopyOf(whole.bytes().subspan(start, size), alignment);
}

class ReadSource : public Source {
 public:
  ReadSource(FileDescriptor file, uint64_t size)
      : Source(size, StrCat("'", file.path(), "'")), file_(std::move(file)) {}

  void ReadAt(uint64_t offset, std::span<uint8_t> out, Checkpoint& checkpoint) const override {
    file_.ReadAt(offset, out, checkpoint);
  }

  Buffer BufferAt(uint64_t offset, size_t size, size_t alignment,
                  Checkpoint& checkpoint) const override {
    Buffer buffer = Buffer::Allocate(size, alignment);
    file_.ReadAt(offset, {buffer.data(), size}, checkpoint);
    return buffer;
  }

 protected:
  const FileDescriptor& file() const noexcept { return file_; }

 private:
  FileDescriptor file_;
};

class MappedSource : public ReadSource {
 public:
  using ReadSource::ReadSource;

  // The first touch of a mapped page costs more than a call, but maps the pages around it, too.
  void ReadAt(uint64_t offset, std::span<uint8_t> out, Checkpoint& checkpoint) const override {
    if (!is_dense_) return ReadSource::ReadAt(offset, out, checkpoint);
    std::memcpy(out.data(), Mapping().data() + offset, out.size());
  }

  Buffer BufferAt(uint64_t offset, size_t size, size_t alignment, Checkpoint&) const override {
    return Aligned(Mapping(), offset, size, alignment);
  }
  void Expect(size_t alignment, uint64_t spacing) override {
    constexpr uint64_t kMappedAtOnce = uint64_t{64} << 10;
    alignment_ = alignment;
    is_dense_ = spacing < kMappedAtOnce;
  }

 private:
  const Buffer& Mapping() const {
    std::call_once(once_, [this] {
      try {
        mapping_ = MapFilePrivately(file().get(), static_cast<size_t>(size()), alignment_);
      } catch (const SystemError& error) {
        errno = error.error_number();
        ThrowSystemError("map", file().path());
      }
    });
    return mapping_;
  }

  size_t alignment_ = 1;
  bool is_dense_ = false;
  mutable std::once_flag once_;
  mutable Buffer mapping_;
};

class BufferSource : public Source {
 public:
  explicit BufferSource(Buffer bytes)
      : Source(bytes.size(), "the buffer"), bytes_(std::move(bytes)) {}

  void ReadAt(uint64_t offset, std::span<uint8_t> out, Checkpoint&) const override {
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }
  Buffer BufferAt(uint64_t offset, size_t size, size_t alignment, Checkpoint&) const override {
    return Aligned(bytes_, offset, size, alignment);
  }

 private:
  Buffer bytes_;
};

}  // namespace

void Source::Expect(size_t, uint64_t) {}

std::unique_ptr<Source> OpenSource(const std::string& path, FileAccess access,
                                   Checkpoint& checkpoint) {
  // Not to wait for somebody to open the other end of a FIFO.
  auto file = FileDescriptor::Open(path, O_RDONLY | O_NONBLOCK, 0, checkpoint);
  struct stat status = file.Status();
  if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    ThrowSystemError("read", path);
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kFile, StrCat("'", path,
                                         "' is no regular file; a stream is read by "
                                         "hurray.StreamReader"));
  }
  auto size = static_cast<uint64_t>(status.st_size);
  if (access == FileAccess::kMap) return std::make_unique<MappedSource>(std::move(file), size);
  return std::make_unique<ReadSource>(std::move(file), size);
}

std::unique_ptr<Source> MemorySource(Buffer bytes) {
  return std::make_unique<BufferSource>(std::move(bytes));
}

}  // namespace hurray
