// What files and streams are made of: tensors, and composites of them.
#pragma once

#include <variant>
#include <vector>

#include "core/descriptor.h"
#include "storage/buffer.h"

namespace hurray {

// A descriptor and the bytes it is about: one buffer per row of its table, each at least as long
// as the row says.
struct TensorData {
  TensorDescriptor descriptor;
  std::vector<Buffer> buffers;
};

struct Item;

// A head and its members in order. The members' descriptors carry no role in an overlay: that
// belongs to the composite, and is written and taken away again here.
struct CompositeData {
  TensorDescriptor head;
  std::vector<Item> members;
};

struct Item : std::variant<TensorData, CompositeData> {
  using variant::variant;

  const TensorDescriptor& descriptor() const noexcept {
    auto* tensor = std::get_if<TensorData>(this);
    return tensor != nullptr ? tensor->descriptor : std::get_if<CompositeData>(this)->head;
  }
};

}  // namespace hurray
