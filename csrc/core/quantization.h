// Quantization schemes: how stored numbers become values. Format: section 7.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/byte_reader.h"
#include "core/byte_writer.h"
#include "core/element_type.h"

namespace hurray {

inline constexpr uint32_t kNoBufferIndex = 0xFFFFFFFF;

struct PerTensorAffine {
  static constexpr uint8_t kTag = 1;
  static constexpr size_t kEncodedSize = 16;
  float scale;
  int32_t zero_point;
  void Check() const;  // throws kInvalidDescriptor: scale 0, NaN or infinite
  friend bool operator==(const PerTensorAffine&, const PerTensorAffine&) = default;
};

// Without zero points (nullopt) the scheme is symmetric.
struct PerChannelAffine {
  static constexpr uint8_t kTag = 2;
  static constexpr size_t kEncodedSize = 20;
  uint32_t axis;
  uint32_t scale_buffer_index;
  std::optional<uint32_t> zero_point_buffer_index;
  void Check() const;
  friend bool operator==(const PerChannelAffine&, const PerChannelAffine&) = default;
};

struct PerBlockAffine {
  static constexpr uint8_t kTag = 3;
  static constexpr size_t kEncodedSize = 24;
  uint32_t axis;
  uint32_t block_size;
  uint32_t scale_buffer_index;
  std::optional<uint32_t> zero_point_buffer_index;
  ElementType scale_type = ElementTypes::kFloat32;  // or float16 or bfloat16
  void Check() const;
  friend bool operator==(const PerBlockAffine&, const PerBlockAffine&) = default;
};

struct Nf4 {
  static constexpr uint8_t kTag = 4;
  static constexpr size_t kEncodedSize = 16;
  uint32_t axis;
  uint32_t block_size;
  uint32_t scale_buffer_index;
  void Check() const;
  friend bool operator==(const Nf4&, const Nf4&) = default;
};

struct Mxfp {
  static constexpr uint8_t kTag = 5;
  static constexpr size_t kEncodedSize = 16;
  uint32_t axis;
  uint32_t block_size;
  uint32_t scale_buffer_index;
  void Check() const;
  friend bool operator==(const Mxfp&, const Mxfp&) = default;
};

using QuantizationScheme =
    std::variant<PerTensorAffine, PerChannelAffine, PerBlockAffine, Nf4, Mxfp>;

// A scheme with whatever bytes followed its fields, which are kept and written again.
// Immutable: threads may share one without a lock.
struct Quantization {
  // Bytes of the longest scheme; whatever a section has beyond them is `trailing`.
  static constexpr size_t kLongestScheme = PerBlockAffine::kEncodedSize;

  QuantizationScheme scheme;
  std::vector<uint8_t> trailing;

  // Decodes the bytes behind the section's length field: scheme header, fields, trailing bytes.
  static Quantization Decode(std::span<const uint8_t> section) {
    Quantization quantization;
    quantization.DecodeFrom(section);
    return quantization;
  }
  void DecodeFrom(std::span<const uint8_t> section);
  // Length of what Encode writes: the section without its length field.
  size_t encoded_size() const noexcept;
  void Encode(ByteWriter& out) const noexcept;

  std::optional<uint32_t> axis() const noexcept;
  std::optional<uint32_t> scale_buffer_index() const noexcept;
  std::optional<uint32_t> zero_point_buffer_index() const noexcept;

  // Throws kInvalidDescriptor if a parameter index does not exist or is one of the layout's own
  // `layout_buffers` buffers.
  void CheckPlacement(size_t buffer_count, size_t layout_buffers) const;

  friend bool operator==(const Quantization&, const Quantization&) = default;
};

}  // namespace hurray
