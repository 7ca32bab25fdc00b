#include "io/file_index.h"

#include <algorithm>

#include "core/byte_reader.h"
#include "core/metadata.h"
#include "core/str_cat.h"
#include "core/utf8.h"

namespace hurray {

namespace {

constexpr uint32_t kLeastDescriptorLength = 20;
constexpr uint64_t kLeastEntrySize = 35;  // with a name of one byte
constexpr size_t kFieldsSize = 32;        // behind the name

[[noreturn]] void Fail(const std::string& message) { throw Error(ErrorCode::kFile, message); }

[[noreturn]] void FailAt(const IndexEntry& entry, const std::string& message) {
  Fail(StrCat("index entry '", entry.name, "': ", message));
}

void CheckBounds(const IndexEntry& entry, const FileHeader& header, uint64_t end) {
  uint64_t first = header.first_descriptor_offset;
  if (entry.descriptor_length < kLeastDescriptorLength) {
    FailAt(entry, StrCat("descriptor_length is ", entry.descriptor_length, ", it must be at least ",
                         kLeastDescriptorLength));
  }
  if (entry.descriptor_offset < first || entry.descriptor_offset > end ||
      entry.descriptor_length > end - entry.descriptor_offset) {
    FailAt(entry, StrCat("descriptor_offset is ", entry.descriptor_offset,
                         " and descriptor_length ", entry.descriptor_length,
                         ", descriptors must lie between bytes ", first, " and ", end));
  }
  if (entry.descriptor_offset % 8 != 0) {
    FailAt(entry, StrCat("descriptor_offset is ", entry.descriptor_offset,
                         ", it must be a multiple of 8"));
  }
  if (entry.data_offset < first || entry.data_offset > end ||
      entry.data_length > end - entry.data_offset) {
    FailAt(entry, StrCat("data_offset is ", entry.data_offset, " and data_length ",
                         entry.data_length, ", data must lie between bytes ", first, " and ", end));
  }
  if (entry.data_length != 0 && entry.data_offset % header.data_alignment != 0) {
    FailAt(entry, StrCat("data_offset is ", entry.data_offset, ", it must be a multiple of ",
                         header.data_alignment));
  }
}

}  // namespace

FileIndex::FileIndex(std::unique_ptr<uint8_t[]> bytes, size_t size, const FileHeader& header,
                     const FileTrailer& trailer)
    : bytes_(std::move(bytes)) {
  Parse({bytes_.get(), size}, header, trailer);
  if (!is_in_order_) {
    std::stable_sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
      return a.descriptor_offset < b.descriptor_offset;
    });
    CheckNoOverlap();
  }
  AddNames();
}

void FileIndex::Parse(std::span<const uint8_t> bytes, const FileHeader& header,
                      const FileTrailer& trailer) {
  ByteReader in(bytes, ErrorCode::kFile);
  uint64_t count = in.ReadU64("index count");
  uint64_t most = std::min<uint64_t>(in.remaining() / kLeastEntrySize, UINT32_MAX - 1);
  if (count > most) {
    Fail(StrCat("index: count is ", count, ", its ", bytes.size(), " bytes hold at most ", most,
                " entries"));
  }
  bool sorted = (header.flags & kFileIsSorted) != 0;
  uint64_t end = trailer.tensors_end();
  uint64_t cursor = 0;  // where the entries so far end
  entries_.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) {
    uint16_t name_length = in.ReadU16("index entry's name length");
    auto name = in.ReadBytes(name_length, "index entry's name");
    const uint8_t* fields = in.ReadBytes(kFieldsSize, "index entry").data();
    IndexEntry entry{
        AsText(name), ByteReader::Load<uint64_t>(fields), ByteReader::Load<uint64_t>(fields + 12),
        ByteReader::Load<uint64_t>(fields + 20), ByteReader::Load<uint32_t>(fields + 8)};
    if (name_length == 0 || !IsValidUtf8(name)) CheckName(entry.name, "tensor name in the index");
    if (uint32_t flags = ByteReader::Load<uint32_t>(fields + 28); flags != 0) {
      FailAt(entry, StrCat("flags is ", flags, ", it must be 0"));
    }
    CheckBounds(entry, header, end);
    uint64_t descriptor_end = entry.descriptor_offset + entry.descriptor_length;
    if (entry.descriptor_offset < cursor ||
        (entry.data_length != 0 && entry.data_offset < descriptor_end)) {
      is_in_order_ = false;
    }
    cursor = entry.data_length == 0 ? descriptor_end : entry.data_offset + entry.data_length;
    if (sorted && !entries_.empty() && entries_.back().name >= entry.name) {
      FailAt(entry, StrCat("it follows '", entries_.back().name,
                           "' in an index that is flagged as sorted"));
    }
    entries_.push_back(entry);
  }
  if (in.remaining() != 0) {
    Fail(StrCat("index: ", in.remaining(), " bytes are left after the last entry"));
  }
}

void FileIndex::CheckNoOverlap() const {
  struct Range {
    uint64_t start, end;
    const IndexEntry* entry;
  };
  std::vector<Range> ranges;
  ranges.reserve(2 * entries_.size());
  for (const IndexEntry& entry : entries_) {
    ranges.push_back(
        {entry.descriptor_offset, entry.descriptor_offset + entry.descriptor_length, &entry});
    if (entry.data_length != 0) {
      ranges.push_back({entry.data_offset, entry.data_offset + entry.data_length, &entry});
    }
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.start < b.start; });
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].start < ranges[i - 1].end) {
      FailAt(*ranges[i].entry, StrCat("its bytes from ", ranges[i].start, " on are also those of '",
                                      ranges[i - 1].entry->name, "'"));
    }
  }
}

void FileIndex::AddNames() {
  names_ = NameTable(entries_.size());
  auto name_of = [this](uint32_t i) { return entries_[i].name; };
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    if (names_.Add(entries_[i].name, i, name_of)) {
      FailAt(entries_[i], "the name comes twice");
    }
  }
}

}  // namespace hurray
