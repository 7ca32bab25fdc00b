#include "core/shard.h"

#include <utility>

#include "core/error.h"
#include "core/str_cat.h"

namespace hurray {

Shard::Shard(Shape parent_shape, Shape offset)
    : parent_shape_(std::move(parent_shape)), offset_(std::move(offset)) {
  if (parent_shape_.size() != offset_.size()) {
    ThrowInvalidDescriptor(StrCat("shard_offset has ", offset_.size(),
                                  " entries, parent_shape has ", parent_shape_.size()));
  }
  if (parent_shape_.size() > kMaxRank) {
    ThrowInvalidDescriptor(StrCat("parent_shape has ", parent_shape_.size(), " entries, at most ",
                                  kMaxRank, " are allowed"));
  }
  for (size_t d = 0; d < parent_shape_.size(); ++d) {
    if (parent_shape_[d] == kDynamicExtent || offset_[d] == kDynamicExtent) {
      ThrowInvalidDescriptor(
          StrCat(parent_shape_[d] == kDynamicExtent ? "parent_shape[" : "shard_offset[", d,
                 "] is 2^64-1, the mark of a dynamic extent, which a shard "
                 "cannot have"));
    }
  }
}

Shard Shard::Decode(ByteReader& in, size_t rank) {
  Shape parent_shape(rank), offset(rank);
  in.ReadNumbers(std::span(parent_shape.data(), rank), "shard parent_shape");
  in.ReadNumbers(std::span(offset.data(), rank), "shard_offset");
  return Shard(std::move(parent_shape), std::move(offset));
}

void Shard::Encode(ByteWriter& out) const noexcept {
  out.WriteNumbers(ShapeView(parent_shape_.data(), parent_shape_.size()));
  out.WriteNumbers(ShapeView(offset_.data(), offset_.size()));
}

void Shard::CheckHolds(ShapeView shape) const {
  if (shape.size() != parent_shape_.size()) {
    ThrowInvalidDescriptor(StrCat("shard: parent_shape has ", parent_shape_.size(),
                                  " entries, the tensor has rank ", shape.size()));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == kDynamicExtent) {
      ThrowInvalidDescriptor(
          StrCat("shard: dimension ", d, " of the tensor is dynamic, a shard needs its extent"));
    }
    // Not `offset + extent > parent`: the sum of two hostile numbers wraps.
    if (offset_[d] > parent_shape_[d] || shape[d] > parent_shape_[d] - offset_[d]) {
      ThrowInvalidDescriptor(StrCat("shard_offset[", d, "] = ", offset_[d], " plus extent ",
                                    shape[d], " exceeds parent_shape[", d,
                                    "] = ", parent_shape_[d]));
    }
  }
}

}  // namespace hurray
