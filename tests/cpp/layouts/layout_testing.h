// What the tests of single layouts share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/indices.h"
#include "testing.h"

namespace hurray {

// The layout that a whole payload describes.
template <typename Kind>
Kind Decoded(std::string_view payload, size_t rank) {
  std::vector<uint8_t> bytes = Bytes(payload);
  ByteReader in(bytes);
  Kind layout = Kind::Decode(in, rank);
  EXPECT_EQ(in.remaining(), 0u) << "the payload is longer than what was read";
  return layout;
}

template <typename Kind>
std::vector<uint8_t> Encoded(const Kind& layout) {
  std::vector<uint8_t> bytes(layout.encoded_size());
  ByteWriter out(bytes);
  layout.Encode(out);
  EXPECT_EQ(out.remaining(), 0u) << "encoded_size() is larger than what was written";
  return bytes;
}

template <typename Kind>
std::optional<int64_t> OffsetIn(const Kind& layout, const std::vector<uint64_t>& shape,
                                const model::Index& index,
                                const std::vector<std::vector<uint8_t>>& buffers = {}) {
  auto spans = Spans(buffers);
  return layout.ElementOffset(shape, index, spans);
}

template <typename Kind>
void CheckShapeOf(const Kind& layout, const std::vector<uint64_t>& shape) {
  layout.CheckShape(shape);
}

// Runs the checks of level D on buffers of a float32 tensor.
template <typename Kind>
void CheckContentsOf(const Kind& layout, const std::vector<uint64_t>& shape,
                     const std::vector<std::vector<uint8_t>>& buffers) {
  auto spans = Spans(buffers);
  layout.CheckContents(Geometry{shape, Packing::OfBits(32)}, spans);
}

// Least size of a buffer of a float32 tensor; nullopt for kUnknown. Fails for kHopeless.
template <typename Kind>
std::optional<uint64_t> NeedOf(const Kind& layout, size_t buffer,
                               const std::vector<uint64_t>& shape, uint64_t byte_offset = 0,
                               uint32_t bits = 32) {
  MinimumSize need =
      layout.MinimumSizeOf(buffer, Geometry{shape, Packing::OfBits(bits), byte_offset});
  EXPECT_NE(need.kind, MinimumSize::Kind::kHopeless) << need.reason;
  if (need.kind != MinimumSize::Kind::kBytes) return std::nullopt;
  return need.bytes;
}

template <typename Kind>
bool IsHopeless(const Kind& layout, size_t buffer, const std::vector<uint64_t>& shape,
                uint64_t byte_offset = 0, uint32_t bits = 32) {
  Geometry geometry{shape, Packing::OfBits(bits), byte_offset};
  return layout.MinimumSizeOf(buffer, geometry).kind == MinimumSize::Kind::kHopeless;
}

}  // namespace hurray
