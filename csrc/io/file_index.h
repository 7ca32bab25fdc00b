// The table of contents of a file. Format: section 10.4.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "io/container.h"
#include "io/name_table.h"

namespace hurray {

struct IndexEntry {
  std::string_view name;  // in the bytes of the index
  uint64_t descriptor_offset;
  uint64_t data_offset;
  uint64_t data_length;  // padding between buffers included
  uint32_t descriptor_length;
};

// Immutable: threads may share one without a lock.
class FileIndex {
 public:
  // Takes the bytes of the index over and checks all of them: names, bounds, and that no two
  // ranges of descriptors or data overlap. Throws kFile. Linear in `size`, but for entries that
  // do not follow each other in the file, which are sorted first.
  FileIndex(std::unique_ptr<uint8_t[]> bytes, size_t size, const FileHeader& header,
            const FileTrailer& trailer);

  // In the order in which the file holds them, which tells the members of composites.
  std::span<const IndexEntry> entries() const noexcept { return entries_; }
  // The number of an entry.
  std::optional<uint32_t> Find(std::string_view name) const {
    return names_.Find(name, [this](uint32_t i) { return entries_[i].name; });
  }

 private:
  void Parse(std::span<const uint8_t> bytes, const FileHeader& header, const FileTrailer& trailer);
  void CheckNoOverlap() const;
  void AddNames();

  std::unique_ptr<uint8_t[]> bytes_;
  std::vector<IndexEntry> entries_;
  bool is_in_order_ = true;
  NameTable names_;
};

}  // namespace hurray
