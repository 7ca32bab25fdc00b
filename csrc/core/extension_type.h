// The description of a private element type. Format: section 6.4.
#pragma once

#include <cstdint>
#include <optional>

#include "core/byte_reader.h"
#include "core/byte_writer.h"
#include "core/packing.h"

namespace hurray {

// A plain value; Check() tells whether it is a legal one. Immutable once checked.
struct ExtensionType {
  static constexpr size_t kEncodedSize = 20;

  uint32_t bit_width = 0;
  bool is_float = false;
  bool is_signed = false;
  uint8_t sign_bits = 0;
  uint8_t exponent_bits = 0;
  uint8_t mantissa_bits = 0;
  uint32_t exponent_bias = 0;
  bool has_nan = false;
  bool has_inf = false;

  // Elements per byte for widths below 8, else 1. REQUIRES: a legal bit_width.
  uint8_t packing_factor() const noexcept {
    return bit_width >= 8 ? uint8_t{1} : static_cast<uint8_t>(8 / bit_width);
  }
  Packing packing() const noexcept { return Packing::OfBits(bit_width); }

  // Throws kInvalidDescriptor naming the field that breaks a rule.
  void Check() const;

  static ExtensionType Decode(ByteReader& in);
  void Encode(ByteWriter& out) const noexcept;

  friend bool operator==(const ExtensionType&, const ExtensionType&) noexcept = default;
};

}  // namespace hurray
