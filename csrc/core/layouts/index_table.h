// The tables of numbers inside index buffers: pointers, coordinates, page ids. Format: sections
// 5.6 to 5.9.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/layouts/layout_kind.h"

namespace hurray {

// Unsigned little-endian numbers in one buffer, not necessarily aligned. The memory may be shared
// with a process that changes it meanwhile, so a value is read once, checked and then used.
class IndexTable {
 public:
  // The first `length` numbers of buffer `buffer`, each `width` (4 or 8) bytes. `layout` and
  // `role` are for messages and must outlive the table. Throws kInvalidDescriptor if the buffer
  // is shorter than that.
  IndexTable(BufferSpans buffers, size_t buffer, std::string_view layout, std::string_view role,
             uint64_t length, size_t width = 8);

  // As many numbers as the buffer holds.
  static IndexTable Whole(BufferSpans buffers, size_t buffer, std::string_view layout,
                          std::string_view role);

  uint64_t size() const noexcept { return length_; }
  // REQUIRES: position < size().
  uint64_t operator[](uint64_t position) const noexcept {
    const uint8_t* at = data_ + position * width_;
    return width_ == 8 ? ByteReader::Load<uint64_t>(at) : ByteReader::Load<uint32_t>(at);
  }

  // The position of `value` in [first, last), whose numbers ascend; nullopt if it is not there.
  // REQUIRES: first <= last <= size().
  std::optional<uint64_t> Find(uint64_t value, uint64_t first, uint64_t last) const noexcept;

  // Throws kInvalidDescriptor: "buffer 2 (row_ptr of layout csr), position 3: 9 must be …".
  [[noreturn]] void Throw(uint64_t position, uint64_t value, std::string_view rule) const;
  // "buffer 2 (row_ptr of layout csr)".
  std::string Name() const;

 private:
  const uint8_t* data_;
  uint64_t length_;
  size_t width_;
  size_t buffer_;
  std::string_view layout_, role_;
};

// The slice of `indices` that entry `slot` of `pointers` opens. Throws kInvalidDescriptor if it
// runs backwards or past the end. REQUIRES: slot + 1 < pointers.size().
struct Slice {
  uint64_t first, last;
};
Slice SliceOf(const IndexTable& pointers, const IndexTable& indices, uint64_t slot);

// Checks one compressed level: pointers start at 0, never decrease and stay inside `indices`;
// within each slice the indices ascend strictly and are below `extent` of dimension `dimension`.
// Returns the last pointer: the number of indices in use. REQUIRES: pointers.size() > 0.
uint64_t CheckCompressedLevel(const IndexTable& pointers, const IndexTable& indices,
                              uint64_t extent, size_t dimension);

}  // namespace hurray
