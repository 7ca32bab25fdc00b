#include "io/file_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/byte_writer.h"
#include "core/str_cat.h"
#include "core/utf8.h"
#include "io/composite_tree.h"
#include "io/container.h"
#include "io/crc32c.h"
#include "io/encode.h"
#include "io/gather_writer.h"
#include "io/name_table.h"
#include "io/replacing_file.h"

namespace hurray {

namespace {

constexpr uint64_t kDescriptorAlignment = 8;  // of sections, too
constexpr size_t kEntryFieldsSize = 34;       // of an index entry, without the name

[[noreturn]] void Fail(const std::string& message) { throw Error(ErrorCode::kFile, message); }

uint64_t AlignUp(uint64_t offset, uint64_t alignment) noexcept {
  return (offset + alignment - 1) & ~(alignment - 1);
}

void PadTo(uint64_t offset, GatherWriter& out) { out.WriteZeros(offset - out.position()); }

}  // namespace

FilePlan::FilePlan(std::span<const NamedItem> items, const Metadata& metadata)
    : metadata_(EncodeMetadata(metadata)), alignment_(kLeastDataAlignment) {
  entries_.reserve(items.size());
  for (const NamedItem& item : items) {
    CheckName(item.name, "tensor name");
    if (auto* composite = std::get_if<CompositeData>(&item.item)) {
      CheckTree(*composite);
      AddComposite(item.name, *composite);
    } else {
      AddTensor(item.name, std::get<TensorData>(item.item));
    }
  }
  CheckNames();
  ChooseAlignment();
  Place();
}

void FilePlan::AddTensor(std::string name, const TensorData& tensor) {
  CheckBuffers(tensor);
  entries_.push_back({std::move(name), &tensor.descriptor, nullptr, tensor.buffers.data()});
}

void FilePlan::AddComposite(const std::string& name, const CompositeData& composite) {
  entries_.push_back({name, &composite.head, nullptr, nullptr});
  for (size_t i = 0; i < composite.members.size(); ++i) {
    std::string member_name = StrCat(name, ".", i);
    CheckName(member_name, "name of a composite's member");
    if (auto* nested = std::get_if<CompositeData>(&composite.members[i])) {
      AddComposite(member_name, *nested);
      continue;
    }
    AddTensor(std::move(member_name), std::get<TensorData>(composite.members[i]));
    Entry& entry = entries_.back();
    entry.as_member = std::make_unique<TensorDescriptor>(MemberOf(composite, i));
    entry.descriptor = entry.as_member.get();
  }
}

void FilePlan::CheckNames() const {
  if (entries_.size() >= UINT32_MAX) {
    Fail(StrCat("there are ", entries_.size(), " tensors, at most 4294967294 are allowed"));
  }
  NameTable names(entries_.size());
  auto name_of = [this](uint32_t i) -> std::string_view { return entries_[i].name; };
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    if (names.Add(entries_[i].name, i, name_of)) {
      Fail(StrCat("the name '", entries_[i].name,
                  "' comes twice; the members of a composite 'w' are named 'w.0', 'w.1', …"));
    }
  }
}

void FilePlan::ChooseAlignment() {
  for (const Entry& entry : entries_) {
    for (const BufferHandle& handle : entry.descriptor->buffers()) {
      if (handle.byte_size == 0) continue;
      if (handle.alignment > kMostDataAlignment) {
        Fail(StrCat("tensor '", entry.name, "': a buffer declares an alignment of ",
                    handle.alignment, ", a file can give at most ", kMostDataAlignment));
      }
      alignment_ = std::max(alignment_, handle.alignment);
    }
  }
}

void FilePlan::Place() {
  uint64_t position = kFileHeaderSize;
  index_length_ = 8;
  for (Entry& entry : entries_) {
    entry.descriptor_offset = AlignUp(position, kDescriptorAlignment);
    entry.descriptor_length = static_cast<uint32_t>(entry.descriptor->encoded_size());
    position = entry.descriptor_offset + entry.descriptor_length;
    entry.data_offset = position;  // of a composite head, which nothing follows
    auto handles = entry.descriptor->buffers();
    for (size_t i = 0; i < handles.size(); ++i) {
      position = AlignUp(position, alignment_);
      if (i == 0) entry.data_offset = position;
      position += handles[i].byte_size;
    }
    entry.data_length = position - entry.data_offset;
    index_length_ += kEntryFieldsSize + entry.name.size();
  }
  position = AlignUp(position, kDescriptorAlignment);
  if (!metadata_.empty()) {
    metadata_offset_ = position;
    position = AlignUp(position + metadata_.size(), kDescriptorAlignment);
  }
  index_offset_ = position;
}

uint64_t FilePlan::file_size() const noexcept {
  return index_offset_ + index_length_ + kFileTrailerSize;
}

void FilePlan::Write(Sink& sink, Checkpoint& checkpoint) const {
  checkpoint.SetTotal(file_size());
  sink.Reserve(file_size(), checkpoint);
  GatherWriter out(sink, checkpoint);
  FileHeader header;
  header.data_alignment = alignment_;
  header.Encode(out.Scratch(kFileHeaderSize).first<kFileHeaderSize>());
  for (const Entry& entry : entries_) {
    PadTo(entry.descriptor_offset, out);
    WriteDescriptor(*entry.descriptor, out);
    auto handles = entry.descriptor->buffers();
    for (size_t i = 0; i < handles.size(); ++i) {
      PadTo(AlignUp(out.position(), alignment_), out);
      out.Write(entry.buffers[i].bytes().first(static_cast<size_t>(handles[i].byte_size)));
    }
  }
  if (!metadata_.empty()) {
    PadTo(metadata_offset_, out);
    out.Write(metadata_);
  }
  PadTo(index_offset_, out);
  std::vector<uint8_t> index = EncodeIndex();
  out.Write(index);
  FileTrailer trailer{index_offset_, index_length_, metadata_offset_,
                      static_cast<uint32_t>(metadata_.size()), Crc32c(index)};
  trailer.Encode(out.Scratch(kFileTrailerSize).first<kFileTrailerSize>());
  out.Flush();
  checkpoint.Finish();
}

std::vector<uint8_t> FilePlan::EncodeIndex() const {
  std::vector<uint8_t> bytes(index_length_);
  ByteWriter out(bytes);
  out.WriteU64(entries_.size());
  for (const Entry& entry : entries_) {
    out.WriteU16(static_cast<uint16_t>(entry.name.size()));
    out.WriteBytes(AsBytes(entry.name));
    out.WriteU64(entry.descriptor_offset);
    out.WriteU32(entry.descriptor_length);
    out.WriteU64(entry.data_offset);
    out.WriteU64(entry.data_length);
    out.WriteU32(0);
  }
  return bytes;
}

void SaveFile(const std::string& path, std::span<const NamedItem> items, const Metadata& metadata,
              bool durable, Checkpoint& checkpoint) {
  FilePlan plan(items, metadata);
  ReplacingFile file(path, checkpoint);
  plan.Write(file, checkpoint);
  file.Commit(durable);
}

}  // namespace hurray
