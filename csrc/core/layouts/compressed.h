// CSR and CSC: the stored elements of a matrix, row by row or column by column, with the other
// index of each and a pointer to where each row or column begins. Format: section 5.7.
#pragma once

#include "core/layouts/layout_kind.h"

namespace hurray {

// kMajor is the dimension that the pointers run over; the indices belong to the other one.
template <size_t kMajor>
struct CompressedLayout {
  static constexpr size_t kMinor = 1 - kMajor;
  static constexpr uint8_t kTag = kMajor == 0 ? 0x07 : 0x08;
  static constexpr std::string_view kName = kMajor == 0 ? "csr" : "csc";
  static constexpr bool kIsDense = false;
  static constexpr bool kHasByteOffset = false;
  static constexpr bool kAllowsShard = true;

  uint64_t nnz;  // stored elements

  static CompressedLayout Decode(ByteReader& in, size_t);
  void Encode(ByteWriter& out) const noexcept;
  static uint8_t tag() noexcept { return kTag; }
  static size_t encoded_size() noexcept { return 16; }

  static void CheckShape(ShapeView shape) { CheckRank(kName, shape, 2, /*exact=*/true); }
  static std::optional<size_t> buffer_count() noexcept { return 3; }
  static std::string_view BufferRole(size_t index) noexcept {
    if (index == 0) return "values";
    if (index == 1) return kMajor == 0 ? "col_indices" : "row_indices";
    return kMajor == 0 ? "row_ptr" : "col_ptr";
  }
  MinimumSize MinimumSizeOf(size_t index, const Geometry& geometry) const;
  std::optional<int64_t> ElementOffset(ShapeView shape, IndexView index, BufferSpans buffers) const;
  void CheckContents(const Geometry& geometry, BufferSpans buffers) const;

  friend bool operator==(const CompressedLayout&, const CompressedLayout&) noexcept = default;
};

extern template struct CompressedLayout<0>;
extern template struct CompressedLayout<1>;
using CsrLayout = CompressedLayout<0>;
using CscLayout = CompressedLayout<1>;

}  // namespace hurray
