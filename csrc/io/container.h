// The fixed parts of a file: its header and its trailer. Format: sections 10.1 and 10.5.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace hurray {

inline constexpr size_t kFileHeaderSize = 64;
inline constexpr size_t kFileTrailerSize = 40;
inline constexpr uint64_t kLeastFileSize = kFileHeaderSize + kFileTrailerSize;

inline constexpr uint32_t kFileHasMetadata = 1u << 0;
inline constexpr uint32_t kFileIsSorted = 1u << 1;
inline constexpr uint32_t kFileHasIndexCrc = 1u << 2;

inline constexpr uint32_t kLeastDataAlignment = 4096;
inline constexpr uint32_t kMostDataAlignment = uint32_t{2} << 20;

struct FileHeader {
  uint8_t version_minor = 0;
  uint32_t flags = kFileHasIndexCrc;
  uint32_t data_alignment = kLeastDataAlignment;  // bytes; every buffer starts at a multiple
  uint64_t first_descriptor_offset = kFileHeaderSize;

  // Throws kFile for a header that breaks a rule.
  static FileHeader Decode(std::span<const uint8_t, kFileHeaderSize> bytes);
  void Encode(std::span<uint8_t, kFileHeaderSize> out) const noexcept;
};

struct FileTrailer {
  uint64_t index_offset = 0;
  uint64_t index_length = 0;
  uint64_t metadata_offset = 0;  // 0 if there is none
  uint32_t metadata_length = 0;
  uint32_t index_crc = 0;

  // Throws kFile for a trailer that breaks a rule, which includes sections that overlap or lie
  // outside a file of `file_size` bytes.
  static FileTrailer Decode(std::span<const uint8_t, kFileTrailerSize> bytes,
                            const FileHeader& header, uint64_t file_size);
  void Encode(std::span<uint8_t, kFileTrailerSize> out) const noexcept;

  // Where the tensors end at the latest.
  uint64_t tensors_end() const noexcept {
    return metadata_offset != 0 && metadata_offset < index_offset ? metadata_offset : index_offset;
  }
};

}  // namespace hurray
