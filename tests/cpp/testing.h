// What the C++ tests share: a matcher for the library's one exception, bytes as hexadecimal text,
// and short ways to build descriptors.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/descriptor.h"

namespace hurray {

// GoogleTest finds these by name when it prints a failure.
inline void PrintTo(ErrorCode code, std::ostream* out) {
  constexpr std::string_view kNames[] = {
      "kInvalidDescriptor", "kBuffer",       "kCopyRequired", "kUnsupported",  "kFile", "kStream",
      "kOutOfRange",        "kInvalidValue", "kOverflow",     "kNotExportable"};
  *out << kNames[static_cast<size_t>(code)];
}
inline void PrintTo(ElementType type, std::ostream* out) { *out << type.name(); }

// Matches a callable that throws Error with that code, and with `text` in its message:
//   EXPECT_THAT([&] { layout.Check(); }, ThrowsCode(ErrorCode::kInvalidDescriptor));
inline auto ThrowsCode(ErrorCode code, const std::string& text = "") {
  return testing::Throws<Error>(
      testing::AllOf(testing::Property("code()", &Error::code, code),
                     testing::Property("what()", &Error::what, testing::HasSubstr(text))));
}

// "48 52 52 59" as bytes; blanks and line ends may stand between any two of them.
inline std::vector<uint8_t> Bytes(std::string_view text) {
  std::vector<uint8_t> out;
  std::optional<unsigned> high;
  for (char c : text) {
    unsigned digit;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<unsigned>(c - 'A') + 10;
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<unsigned>(c - 'a') + 10;
    } else if (std::isspace(static_cast<unsigned char>(c)) && !high) {
      continue;
    } else {
      throw std::invalid_argument("not hexadecimal: " + std::string(text));
    }
    if (high) {
      out.push_back(static_cast<uint8_t>(*high << 4 | digit));
      high.reset();
    } else {
      high = digit;
    }
  }
  if (high) throw std::invalid_argument("half a byte: " + std::string(text));
  return out;
}

// The little-endian bytes of numbers, one after another.
template <typename T>
std::vector<uint8_t> LittleEndian(const std::vector<T>& values) {
  std::vector<uint8_t> out(values.size() * sizeof(T));
  ByteWriter writer(out);
  writer.WriteNumbers(std::span<const T>(values));
  return out;
}

inline Shape ShapeOf(const std::vector<uint64_t>& extents) {
  return Shape(std::span<const uint64_t>(extents));
}

// A table of CPU buffers of these sizes, in bytes.
inline BufferTable BuffersOf(const std::vector<uint64_t>& sizes) {
  BufferTable table(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) table[i] = BufferHandle::Of(sizes[i], Device{});
  return table;
}

// A descriptor, unchecked, with buffers of these sizes.
inline TensorDescriptor Described(ElementType dtype, const std::vector<uint64_t>& shape,
                                  Layout layout, const std::vector<uint64_t>& buffer_sizes,
                                  DescriptorSections sections = {}) {
  return TensorDescriptor(
      dtype, ShapeOf(shape), std::move(layout), BuffersOf(buffer_sizes), 0,
      sections.empty() ? nullptr : std::make_shared<const DescriptorSections>(std::move(sections)));
}

// A row-major descriptor with exactly the bytes it needs.
// REQUIRES: no dynamic extent, not a private type.
inline TensorDescriptor Dense(ElementType dtype, const std::vector<uint64_t>& shape,
                              DescriptorSections sections = {}) {
  uint64_t size = *Packing::Of(dtype).SizeBytes(*ElementCount(shape));
  return Described(dtype, shape, RowMajorLayout{}, {size}, std::move(sections));
}

// Views of owned bytes, as the core takes the contents of buffers.
inline std::vector<std::span<const uint8_t>> Spans(
    const std::vector<std::vector<uint8_t>>& buffers) {
  return {buffers.begin(), buffers.end()};
}

}  // namespace hurray
