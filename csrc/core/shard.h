// Where a tensor sits inside a larger one. Format: section 6.2.
#pragma once

#include <cstdint>

#include "core/byte_reader.h"
#include "core/byte_writer.h"
#include "core/shape.h"

namespace hurray {

// The parent's extents and the index in it of the tensor's first element, both in elements.
// Immutable: threads may share one without a lock.
class Shard {
 public:
  // Throws kInvalidDescriptor if the lengths differ, exceed 64, or an entry is reserved (2^64-1).
  Shard(Shape parent_shape, Shape offset);

  // Reads 16 * rank bytes; throws kInvalidDescriptor if `in` holds fewer.
  static Shard Decode(ByteReader& in, size_t rank);
  void Encode(ByteWriter& out) const noexcept;
  size_t encoded_size() const noexcept { return 16 * parent_shape_.size(); }

  const Shape& parent_shape() const noexcept { return parent_shape_; }
  const Shape& offset() const noexcept { return offset_; }

  // Throws kInvalidDescriptor if a tensor of this shape has another rank, a dynamic extent, or
  // reaches past the parent.
  void CheckHolds(ShapeView shape) const;

  friend bool operator==(const Shard&, const Shard&) noexcept = default;

 private:
  Shape parent_shape_, offset_;
};

}  // namespace hurray
