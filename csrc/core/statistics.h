// What a producer claims about a tensor's values; advisory. Format: section 6.3.
#pragma once

#include <cstdint>
#include <optional>

#include "core/byte_reader.h"
#include "core/byte_writer.h"

namespace hurray {

// A plain value. A field counts only if its bit in `computed_mask` is set; the others are kept as
// they were read, so that encoding gives the same bytes again.
struct Statistics {
  static constexpr size_t kEncodedSize = 72;
  static constexpr uint32_t kNnz = 1, kSparsity = 2, kRange = 4, kMoments = 8, kNm = 16,
                            kSpecials = 32;

  uint32_t computed_mask = 0;
  uint64_t nnz = 0;
  double sparsity_ratio = 0;
  double value_min = 0, value_max = 0, value_abs_max = 0;
  double value_mean = 0, value_stddev = 0;
  uint8_t nm_n = 0, nm_m = 0;
  uint8_t has_nan = 0, has_inf = 0;

  bool claims(uint32_t bit) const noexcept { return (computed_mask & bit) != 0; }

  static Statistics Decode(ByteReader& in);
  void Encode(ByteWriter& out) const noexcept;

  // Equal claims: same mask and bit-equal claimed fields (so a NaN equals itself).
  friend bool operator==(const Statistics& a, const Statistics& b) noexcept;
};

}  // namespace hurray
