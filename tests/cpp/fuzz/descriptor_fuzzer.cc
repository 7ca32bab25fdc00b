// Decodes a descriptor in both modes, encodes it again, and addresses elements of a tensor that it
// could describe, whose index buffers hold what the input holds.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/addressing.h"
#include "core/contents.h"
#include "core/descriptor.h"
#include "round_trip.h"

namespace hurray {
namespace {

constexpr uint64_t kMostBytes = 1 << 16;  // of all buffers of a tensor

std::optional<TensorDescriptor> Decoded(std::span<const uint8_t> input, Mode mode) {
  try {
    return TensorDescriptor::Decode(input, mode);
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kInvalidDescriptor, "a descriptor has another error");
    return std::nullopt;
  }
}

void CheckRoundTrip(const TensorDescriptor& descriptor, std::span<const uint8_t> input, Mode mode) {
  auto bytes = descriptor.Encode();
  Require(bytes.size() <= input.size() && SameBytes(bytes, input.first(bytes.size())),
          "a descriptor is encoded differently");
  auto again = Decoded(bytes, mode);
  Require(again && *again == descriptor, "a descriptor is decoded differently");
}

// Of the sizes that the descriptor declares; none if that is too much. Mostly small numbers, which
// index buffers are made of.
std::vector<std::vector<uint8_t>> MakeBuffers(const TensorDescriptor& descriptor,
                                              std::span<const uint8_t> input) {
  uint64_t total = 0;
  for (const BufferHandle& handle : descriptor.buffers()) {
    if (handle.byte_size > kMostBytes - total) return {};
    total += handle.byte_size;
  }
  std::vector<std::vector<uint8_t>> buffers;
  size_t next = input.size() / 2;
  bool wild = input.back() % 4 == 0;
  for (const BufferHandle& handle : descriptor.buffers()) {
    std::vector<uint8_t> bytes(static_cast<size_t>(handle.byte_size));
    for (size_t i = 0; i < bytes.size(); i += wild ? 1 : 8) {
      uint8_t byte = input[next++ % input.size()];
      bytes[i] = wild ? byte : byte % 8;
    }
    buffers.push_back(std::move(bytes));
  }
  return buffers;
}

void AddressElement(const TensorDescriptor& descriptor, IndexView index, BufferSpans buffers) {
  try {
    auto offset = ElementOffset(descriptor, index, buffers);
    if (!offset) return;
    Packing::ByteRange range = descriptor.packing().BytesOf(*offset, *offset);
    __int128 first = range.first + descriptor.byte_offset();
    __int128 last = range.last + descriptor.byte_offset();
    Require(first >= 0 && last <= __int128{descriptor.buffers()[0].byte_size},
            "an element lies outside buffer 0");
  } catch (const Error&) {
  }
}

void UseElements(const TensorDescriptor& descriptor, std::span<const uint8_t> input) {
  auto owned = MakeBuffers(descriptor, input);
  if (owned.size() != descriptor.buffers().size()) return;
  std::vector<std::span<const uint8_t>> buffers(owned.begin(), owned.end());
  ShapeView shape = descriptor.shape();
  std::vector<uint64_t> first(shape.size(), 0), last(shape.size()), other(shape.size());
  for (size_t k = 0; k < shape.size(); ++k) {
    last[k] = shape[k] - 1;  // of an empty dimension: out of range, like any other index
    other[k] = shape[k] == 0 ? 0 : input[k % input.size()] % shape[k];
  }
  for (const auto& index : {first, last, other}) AddressElement(descriptor, index, buffers);
  try {
    CheckContents(descriptor, buffers);
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kInvalidDescriptor, "contents have another error");
  }
}

void Run(std::span<const uint8_t> input) {
  for (Mode mode : {Mode::kStrict, Mode::kPermissive}) {
    auto descriptor = Decoded(input, mode);
    if (!descriptor) continue;
    CheckRoundTrip(*descriptor, input, mode);
    UseElements(*descriptor, input);
  }
}

}  // namespace
}  // namespace hurray

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hurray::Run({data, size});
  return 0;
}
