#include "core/statistics.h"

#include <bit>

#include "core/error.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

constexpr uint32_t kAllBits = 63;

bool SameBits(double a, double b) noexcept {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

}  // namespace

Statistics Statistics::Decode(ByteReader& in) {
  Statistics out;
  out.computed_mask = in.ReadU32("statistics computed_mask");
  if ((out.computed_mask & ~kAllBits) != 0) {
    ThrowInvalidDescriptor(StrCat("statistics: computed_mask is ", out.computed_mask,
                                  ", only bits 0 to 5 may be set"));
  }
  in.ReadReserved(4, "statistics");
  out.nnz = in.ReadU64("statistics nnz");
  out.sparsity_ratio = in.ReadF64("statistics sparsity_ratio");
  out.value_min = in.ReadF64("statistics value_min");
  out.value_max = in.ReadF64("statistics value_max");
  out.value_abs_max = in.ReadF64("statistics value_abs_max");
  out.value_mean = in.ReadF64("statistics value_mean");
  out.value_stddev = in.ReadF64("statistics value_stddev");
  out.nm_n = in.ReadU8("statistics nm_n");
  out.nm_m = in.ReadU8("statistics nm_m");
  out.has_nan = in.ReadU8("statistics has_nan");
  out.has_inf = in.ReadU8("statistics has_inf");
  in.ReadReserved(4, "statistics");
  if (out.claims(kSpecials) && (out.has_nan > 1 || out.has_inf > 1)) {
    bool nan = out.has_nan > 1;
    ThrowInvalidDescriptor(StrCat("statistics: ", nan ? "has_nan" : "has_inf", " is ",
                                  nan ? out.has_nan : out.has_inf, ", it must be 0 or 1"));
  }
  return out;
}

void Statistics::Encode(ByteWriter& out) const noexcept {
  out.WriteU32(computed_mask);
  out.WriteZeros(4);
  out.WriteU64(nnz);
  out.WriteF64(sparsity_ratio);
  out.WriteF64(value_min);
  out.WriteF64(value_max);
  out.WriteF64(value_abs_max);
  out.WriteF64(value_mean);
  out.WriteF64(value_stddev);
  out.WriteU8(nm_n);
  out.WriteU8(nm_m);
  out.WriteU8(has_nan);
  out.WriteU8(has_inf);
  out.WriteZeros(4);
}

bool operator==(const Statistics& a, const Statistics& b) noexcept {
  auto equal_if = [&](uint32_t bit, bool equal) { return !a.claims(bit) || equal; };
  return a.computed_mask == b.computed_mask && equal_if(Statistics::kNnz, a.nnz == b.nnz) &&
         equal_if(Statistics::kSparsity, SameBits(a.sparsity_ratio, b.sparsity_ratio)) &&
         equal_if(Statistics::kRange, SameBits(a.value_min, b.value_min) &&
                                          SameBits(a.value_max, b.value_max) &&
                                          SameBits(a.value_abs_max, b.value_abs_max)) &&
         equal_if(Statistics::kMoments, SameBits(a.value_mean, b.value_mean) &&
                                            SameBits(a.value_stddev, b.value_stddev)) &&
         equal_if(Statistics::kNm, a.nm_n == b.nm_n && a.nm_m == b.nm_m) &&
         equal_if(Statistics::kSpecials, a.has_nan == b.has_nan && a.has_inf == b.has_inf);
}

}  // namespace hurray
