// What all fuzzers ask: is what was decoded encoded again to the same bytes?
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <variant>
#include <vector>

#include "core/descriptor.h"
#include "io/item.h"

namespace hurray {

// Ends the process, which the fuzzer takes for a finding, unless `holds`.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

inline bool SameBytes(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

inline bool SameItem(const Item& a, const Item& b) {
  if (a.index() != b.index() || !(a.descriptor() == b.descriptor())) return false;
  if (const auto* tensor = std::get_if<TensorData>(&a)) {
    const auto& other = std::get<TensorData>(b);
    return std::equal(tensor->buffers.begin(), tensor->buffers.end(), other.buffers.begin(),
                      other.buffers.end(), [](const Buffer& left, const Buffer& right) {
                        return SameBytes(left.bytes(), right.bytes());
                      });
  }
  const auto& members = std::get<CompositeData>(a).members;
  const auto& others = std::get<CompositeData>(b).members;
  return std::equal(members.begin(), members.end(), others.begin(), others.end(), SameItem);
}

// The fuzzer's bytes as a buffer that ends where they do, so that reading past it is noticed.
inline Buffer Borrowed(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return Buffer();
  return Buffer(const_cast<uint8_t*>(bytes.data()), bytes.size(), false, nullptr, nullptr);
}

}  // namespace hurray
