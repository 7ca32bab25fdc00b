#include "io/file_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/checked_math.h"
#include "core/str_cat.h"
#include "io/composite_tree.h"
#include "io/crc32c.h"

namespace hurray {

namespace {

[[noreturn]] void Fail(const std::string& message) { throw Error(ErrorCode::kFile, message); }

FileHeader ReadHeader(const Source& source, Checkpoint& checkpoint) {
  if (source.size() < kLeastFileSize) {
    Fail(StrCat(source.name(), " has ", source.size(), " bytes, a Hurray file has at least ",
                kLeastFileSize));
  }
  std::array<uint8_t, kFileHeaderSize> bytes;
  source.ReadAt(0, bytes, checkpoint);
  return FileHeader::Decode(bytes);
}

FileTrailer ReadTrailer(const Source& source, const FileHeader& header, Checkpoint& checkpoint) {
  std::array<uint8_t, kFileTrailerSize> bytes;
  source.ReadAt(source.size() - bytes.size(), bytes, checkpoint);
  return FileTrailer::Decode(bytes, header, source.size());
}

FileIndex ReadIndex(const Source& source, const FileHeader& header, const FileTrailer& trailer,
                    Checkpoint& checkpoint) {
  auto size = static_cast<size_t>(trailer.index_length);
  std::unique_ptr<uint8_t[]> bytes(new uint8_t[size]);
  source.ReadAt(trailer.index_offset, {bytes.get(), size}, checkpoint);
  if ((header.flags & kFileHasIndexCrc) != 0) {
    uint32_t crc = Crc32c({bytes.get(), size});
    if (crc != trailer.index_crc) {
      Fail(StrCat("index_crc32c is ", trailer.index_crc, ", the checksum of the index is ", crc,
                  ": the file is corrupt"));
    }
  }
  return FileIndex(std::move(bytes), size, header, trailer);
}

// Adds to an error which tensor it is about.
template <typename Work>
auto About(const IndexEntry& entry, Work&& work) {
  try {
    return work();
  } catch (const SystemError&) {
    throw;
  } catch (const Error& error) {
    throw Error(error.code(), StrCat("tensor '", entry.name, "': ", error.what()));
  }
}

}  // namespace

FileReader::FileReader(std::unique_ptr<Source> source, Mode mode, Checkpoint& checkpoint,
                       Unsound unsound)
    : source_(std::move(source)),
      mode_(mode),
      unsound_(unsound),
      header_(ReadHeader(*source_, checkpoint)),
      trailer_(ReadTrailer(*source_, header_, checkpoint)),
      index_(ReadIndex(*source_, header_, trailer_, checkpoint)) {
  source_->Expect(header_.data_alignment, source_->size() / (entry_count() + 1));
  FindMembers(checkpoint);
}

TensorDescriptor FileReader::ReadDescriptor(size_t entry, Checkpoint& checkpoint) const {
  return Decode(index_.entries()[entry], checkpoint);
}

Item FileReader::Read(size_t entry, Checkpoint& checkpoint) const {
  const IndexEntry& first = index_.entries()[entry];
  TensorDescriptor descriptor = Decode(first, checkpoint);
  if (!IsVirtual(descriptor.layout())) {
    return ReadTensor(first, std::move(descriptor), checkpoint);
  }
  return ReadComposite(entry, std::move(descriptor), checkpoint);
}

Metadata FileReader::ReadMetadata(Checkpoint& checkpoint) const {
  if (trailer_.metadata_offset == 0) return {};
  std::unique_ptr<uint8_t[]> bytes(new uint8_t[trailer_.metadata_length]);
  std::span<uint8_t> section(bytes.get(), trailer_.metadata_length);
  source_->ReadAt(trailer_.metadata_offset, section, checkpoint);
  return DecodeMetadata(section);
}

uint64_t FileReader::data_length() const noexcept {
  uint64_t total = 0;  // cannot wrap: the ranges lie in the file and do not overlap
  for (const IndexEntry& entry : index_.entries()) total += entry.data_length;
  return total;
}

std::optional<uint32_t> FileReader::MemberCountOf(size_t entry, Checkpoint& checkpoint) const {
  if (index_.entries()[entry].data_length != 0) return std::nullopt;
  try {
    TensorDescriptor descriptor = Decode(index_.entries()[entry], checkpoint);
    auto* head = std::get_if<CompositeHeadLayout>(&descriptor.layout());
    return head != nullptr ? std::optional(head->member_count) : std::nullopt;
  } catch (const SystemError&) {
    throw;
  } catch (const Error&) {
    if (unsound_ == Unsound::kRefused) throw;
    return std::nullopt;
  }
}

void FileReader::FindMembers(Checkpoint& checkpoint) {
  auto entries = index_.entries();
  MemberCounter counter;
  std::vector<size_t> heads;  // that wait for members, outermost first
  for (size_t i = 0; i < entries.size(); ++i) {
    // What has data is no head, and need not be decoded to know that.
    if (counter.depth() == 0 && entries[i].data_length != 0) continue;
    if (counter.depth() > 0) members_[i] = true;
    std::optional<uint32_t> member_count = MemberCountOf(i, checkpoint);
    if (member_count && members_.empty()) members_.resize(entries.size());
    if (unsound_ == Unsound::kLeft && counter.depth() == kMaxCompositeDepth) {
      member_count = std::nullopt;  // too deep, of which reading its outermost head tells
    }
    About(entries[i], [&] { counter.Add(member_count); });
    if (member_count) heads.push_back(i);
    heads.resize(std::min(heads.size(), counter.depth()));
  }
  if (counter.depth() == 0) return;
  if (unsound_ == Unsound::kRefused) {
    ThrowInvalidDescriptor(StrCat("composite '", entries[heads.back()].name,
                                  "' is torn: ", counter.missing(),
                                  " more members are needed, but the file has no more tensors"));
  }
  for (size_t i = heads.front(); i < entries.size(); ++i) members_[i] = false;
}

TensorDescriptor FileReader::Decode(const IndexEntry& entry, Checkpoint& checkpoint) const {
  constexpr size_t kUsual = 512;
  std::array<uint8_t, kUsual> usual;
  std::unique_ptr<uint8_t[]> large;
  std::span<uint8_t> bytes = usual;
  if (entry.descriptor_length > kUsual) {
    large.reset(new uint8_t[entry.descriptor_length]);
    bytes = {large.get(), entry.descriptor_length};
  }
  bytes = bytes.first(entry.descriptor_length);
  source_->ReadAt(entry.descriptor_offset, bytes, checkpoint);
  return About(entry, [&] {
    if (uint32_t length = TensorDescriptor::DeclaredLength(bytes);
        length != entry.descriptor_length) {
      Fail(StrCat("descriptor_length is ", length, ", the index says ", entry.descriptor_length));
    }
    return TensorDescriptor::Decode(bytes, mode_);
  });
}

TensorData FileReader::ReadTensor(const IndexEntry& entry, TensorDescriptor descriptor,
                                  Checkpoint& checkpoint) const {
  return About(entry, [&] {
    uint64_t end = entry.data_offset + entry.data_length;
    if (entry.data_offset % header_.data_alignment != 0) {
      Fail(StrCat("data_offset is ", entry.data_offset, ", it must be a multiple of ",
                  header_.data_alignment));
    }
    std::vector<Buffer> buffers;
    buffers.reserve(descriptor.buffers().size());
    std::optional<uint64_t> position = entry.data_offset;
    for (const BufferHandle& handle : descriptor.buffers()) {
      auto start = CheckedAlignUp(*position, header_.data_alignment);
      position = CheckedAdd(start, handle.byte_size);
      if (!position || *position > end) {
        Fail(StrCat("buffer ", buffers.size(), " of ", handle.byte_size,
                    " bytes runs beyond the data, which ends at byte ", end));
      }
      size_t alignment = std::clamp<size_t>(handle.alignment, kMinBufferAlignment, kMostAlignment);
      buffers.push_back(
          source_->BufferAt(*start, static_cast<size_t>(handle.byte_size), alignment, checkpoint));
    }
    if (*position != end) {
      Fail(StrCat("data_length is ", entry.data_length, ", the buffers and their padding have ",
                  *position - entry.data_offset, " bytes"));
    }
    return TensorData{std::move(descriptor), std::move(buffers)};
  });
}

CompositeData FileReader::ReadComposite(size_t entry, TensorDescriptor head,
                                        Checkpoint& checkpoint) const {
  const IndexEntry& first = index_.entries()[entry];
  auto builder = About(first, [&] { return CompositeBuilder(std::move(head)); });
  while (!builder.complete()) {
    if (++entry >= entry_count() || !is_member(entry)) {
      About(first, [&] {
        if (unsound_ == Unsound::kLeft) {
          ThrowInvalidDescriptor("the composite is torn: the file does not hold all its members");
        }
        // Opening counted them, but the file may have changed since.
        Fail("the file changed while it was read");
      });
    }
    const IndexEntry& next = index_.entries()[entry];
    TensorDescriptor descriptor = Decode(next, checkpoint);
    About(first, [&] { builder.Check(descriptor); });
    if (IsVirtual(descriptor.layout())) {
      builder.AddHead(std::move(descriptor));
    } else {
      builder.Add(ReadTensor(next, std::move(descriptor), checkpoint));
    }
  }
  return builder.Take();
}

}  // namespace hurray
