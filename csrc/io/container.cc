#include "io/container.h"

#include <algorithm>

#include "core/byte_reader.h"
#include "core/byte_writer.h"
#include "core/checked_math.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

constexpr std::array<uint8_t, 8> kFileMagic{'H', 'R', 'R', 'Y', 'F', 'I', 'L', 'E'};
constexpr std::array<uint8_t, 4> kTrailerMagic{'H', 'R', 'R', 'Y'};
constexpr uint8_t kVersionMajor = 1;
constexpr uint32_t kKnownFlags = kFileHasMetadata | kFileIsSorted | kFileHasIndexCrc;
constexpr uint64_t kUnknownCount = UINT64_MAX;
constexpr uint64_t kLeastIndexLength = 8;
constexpr uint32_t kLeastMetadataLength = 4;

[[noreturn]] void Fail(const std::string& message) { throw Error(ErrorCode::kFile, message); }

bool StartsWith(std::span<const uint8_t> bytes, std::span<const uint8_t> magic) noexcept {
  return std::equal(magic.begin(), magic.end(), bytes.begin());
}

// A newer minor version may have given reserved bytes a meaning that older readers can ignore.
void ReadReserved(ByteReader& in, size_t count, const char* field, const FileHeader& header) {
  if (header.version_minor == 0) {
    in.ReadReserved(count, field);
  } else {
    in.ReadBytes(count, field);
  }
}

// Throws unless [offset, offset + length) lies between the header and the trailer.
void CheckInside(uint64_t offset, uint64_t length, uint64_t file_size, const char* what) {
  uint64_t end = file_size - kFileTrailerSize;
  if (offset < kFileHeaderSize || offset > end || length > end - offset) {
    Fail(StrCat(what, "_offset is ", offset, " and ", what, "_length ", length,
                ", the section must lie between bytes ", kFileHeaderSize, " and ", end));
  }
}

}  // namespace

FileHeader FileHeader::Decode(std::span<const uint8_t, kFileHeaderSize> bytes) {
  ByteReader in(bytes, ErrorCode::kFile);
  if (!StartsWith(in.ReadBytes(kFileMagic.size(), "magic"), kFileMagic)) {
    Fail("the magic bytes at the start are not HRRYFILE: this is no Hurray file");
  }
  FileHeader header;
  uint8_t major = in.ReadU8("container_version_major");
  if (major != kVersionMajor) {
    Fail(StrCat("container_version_major is ", major, ", this version reads 1"));
  }
  header.version_minor = in.ReadU8("container_version_minor");
  ReadReserved(in, 2, "file header", header);
  header.flags = in.ReadU32("file_flags");
  if ((header.flags & ~kKnownFlags) != 0) {
    Fail(StrCat("file_flags is ", header.flags, ", only bits 0 to 2 may be set"));
  }
  header.data_alignment = in.ReadU32("data_buffer_alignment");
  if (!IsPowerOfTwo(header.data_alignment) || header.data_alignment < kLeastDataAlignment ||
      header.data_alignment > kMostDataAlignment) {
    Fail(StrCat("data_buffer_alignment is ", header.data_alignment,
                ", it must be a power of two from ", kLeastDataAlignment, " to ",
                kMostDataAlignment));
  }
  header.first_descriptor_offset = in.ReadU64("first_descriptor_offset");
  if (header.first_descriptor_offset < kFileHeaderSize || header.first_descriptor_offset % 8 != 0) {
    Fail(StrCat("first_descriptor_offset is ", header.first_descriptor_offset,
                ", it must be a multiple of 8 and at least ", kFileHeaderSize));
  }
  in.ReadU64("tensor_count_hint");  // advice only
  ReadReserved(in, in.remaining(), "file header", header);
  return header;
}

void FileHeader::Encode(std::span<uint8_t, kFileHeaderSize> bytes) const noexcept {
  ByteWriter out(bytes);
  out.WriteBytes(kFileMagic);
  out.WriteU8(kVersionMajor);
  out.WriteU8(version_minor);
  out.WriteZeros(2);
  out.WriteU32(flags);
  out.WriteU32(data_alignment);
  out.WriteU64(first_descriptor_offset);
  out.WriteU64(kUnknownCount);
  out.WriteZeros(out.remaining());
}

FileTrailer FileTrailer::Decode(std::span<const uint8_t, kFileTrailerSize> bytes,
                                const FileHeader& header, uint64_t file_size) {
  if (!StartsWith(bytes.last(kTrailerMagic.size()), kTrailerMagic)) {
    Fail("the last four bytes are not HRRY: the file is cut short, or was appended to");
  }
  ByteReader in(bytes, ErrorCode::kFile);
  FileTrailer trailer;
  trailer.index_offset = in.ReadU64("index_offset");
  trailer.index_length = in.ReadU64("index_length");
  trailer.metadata_offset = in.ReadU64("kv_offset");
  trailer.metadata_length = in.ReadU32("kv_length");
  trailer.index_crc = in.ReadU32("index_crc32c");
  ReadReserved(in, 4, "file trailer", header);

  if (trailer.index_length < kLeastIndexLength) {
    Fail(StrCat("index_length is ", trailer.index_length, ", it must be at least ",
                kLeastIndexLength));
  }
  CheckInside(trailer.index_offset, trailer.index_length, file_size, "index");
  if ((header.flags & kFileHasIndexCrc) == 0 && trailer.index_crc != 0) {
    Fail(StrCat("index_crc32c is ", trailer.index_crc,
                ", it must be 0 in a file without the "
                "checksum flag"));
  }
  bool has_offset = trailer.metadata_offset != 0, has_length = trailer.metadata_length != 0;
  if (has_offset != has_length) {
    Fail(StrCat("kv_offset is ", trailer.metadata_offset, " and kv_length ",
                trailer.metadata_length, ", both or neither must be 0"));
  }
  if (!has_offset) {
    if ((header.flags & kFileHasMetadata) != 0) {
      Fail("file_flags promises metadata, but kv_offset is 0");
    }
    return trailer;
  }
  if (trailer.metadata_length < kLeastMetadataLength) {
    Fail(StrCat("kv_length is ", trailer.metadata_length, ", it must be at least ",
                kLeastMetadataLength));
  }
  CheckInside(trailer.metadata_offset, trailer.metadata_length, file_size, "kv");
  if (trailer.metadata_offset < trailer.index_offset + trailer.index_length &&
      trailer.index_offset < trailer.metadata_offset + trailer.metadata_length) {
    Fail(StrCat("the metadata at byte ", trailer.metadata_offset, " and the index at byte ",
                trailer.index_offset, " overlap"));
  }
  return trailer;
}

void FileTrailer::Encode(std::span<uint8_t, kFileTrailerSize> bytes) const noexcept {
  ByteWriter out(bytes);
  out.WriteU64(index_offset);
  out.WriteU64(index_length);
  out.WriteU64(metadata_offset);
  out.WriteU32(metadata_length);
  out.WriteU32(index_crc);
  out.WriteZeros(4);
  out.WriteBytes(kTrailerMagic);
}

}  // namespace hurray
