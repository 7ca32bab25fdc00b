#include "core/buffer_handle.h"

#include <string>

#include "guarded_bytes.h"
#include "testing.h"
#include "wire_descriptor.h"

namespace hurray {
namespace {

std::vector<uint8_t> Encoded(const WireHandle& wire) {
  std::vector<uint8_t> bytes(BufferHandle::kEncodedSize);
  ByteWriter out(bytes);
  out.WriteU64(wire.byte_size);
  out.WriteU32(wire.alignment);
  out.WriteU8(wire.device_tag);
  out.WriteU8(wire.sync_mode);
  out.WriteU8(wire.memory_class);
  out.WriteU8(wire.reserved);
  return bytes;
}

BufferHandle Decoded(std::span<const uint8_t> bytes) {
  ByteReader in(bytes);
  BufferHandle handle;
  handle.DecodeFrom(in, 3);
  return handle;
}

struct Handle {
  std::string name;
  WireHandle wire;
};

class BrokenBufferHandle : public testing::TestWithParam<Handle> {};

TEST_P(BrokenBufferHandle, IsRejected) {
  auto bytes = Encoded(GetParam().wire);
  EXPECT_THAT([&] { Decoded(bytes); }, ThrowsCode(ErrorCode::kInvalidDescriptor));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BrokenBufferHandle,
    testing::Values(
        Handle{"AlignmentZero", {16, 0}}, Handle{"AlignmentZeroOfEmpty", {0, 0}},
        Handle{"AlignmentNoPowerOfTwo", {16, 96}}, Handle{"AlignmentNoPowerOfTwoOfEmpty", {0, 3}},
        Handle{"AlignmentMaximum", {16, 0xFFFFFFFF}}, Handle{"AlignmentBelow64", {16, 32}},
        Handle{"AlignmentOne", {1, 1}}, Handle{"DeviceTag09", {16, 64, 0x09}},
        Handle{"DeviceTagEF", {16, 64, 0xEF}}, Handle{"DeviceTagFF", {16, 64, 0xFF}},
        Handle{"SyncMode3", {16, 64, 1, 3}}, Handle{"SyncModeFF", {16, 64, 1, 0xFF}},
        Handle{"SyncMode1OnCpu", {16, 64, 0, 1}}, Handle{"SyncMode2OnCpu", {16, 64, 0, 2}},
        Handle{"SyncMode1OnCpuOfEmpty", {0, 64, 0, 1}},
        Handle{"MemoryClass04", {16, 64, 1, 0, 0x04}},
        Handle{"MemoryClassEF", {16, 64, 0xF0, 0, 0xEF}},
        Handle{"MemoryClassFF", {16, 64, 1, 0, 0xFF}}, Handle{"Reserved", {16, 64, 0, 0, 0, 1}},
        Handle{"PairCpuPeer", {16, 64, 0, 0, 3}}, Handle{"PairWebgpuPinned", {16, 64, 5, 0, 1}},
        Handle{"PairOpenclPeer", {16, 64, 8, 0, 3}},
        Handle{"PairCpuPrivateClass", {16, 64, 0, 0, 0xF0}},
        Handle{"PairPrivatePinned", {16, 64, 0xF0, 0, 1}}),
    [](const auto& row) { return row.param.name; });

class LegalBufferHandle : public testing::TestWithParam<Handle> {};

TEST_P(LegalBufferHandle, IsDecodedAndEncodedAgain) {
  const WireHandle& wire = GetParam().wire;
  auto bytes = Encoded(wire);
  BufferHandle handle = Decoded(bytes);
  EXPECT_EQ(handle.byte_size, wire.byte_size);
  EXPECT_EQ(handle.alignment, wire.alignment);
  EXPECT_EQ(handle.device, (Device{wire.device_tag, wire.memory_class}));
  EXPECT_EQ(static_cast<uint8_t>(handle.sync_mode), wire.sync_mode);
  std::vector<uint8_t> again(BufferHandle::kEncodedSize, 0xEE);
  ByteWriter out(again);
  handle.Encode(out);
  EXPECT_EQ(again, bytes);
}

INSTANTIATE_TEST_SUITE_P(Rows, LegalBufferHandle,
                         testing::Values(Handle{"OnCpu", {16, 64}},
                                         Handle{"EmptyWithAlignment1", {0, 1}},
                                         Handle{"EmptyWithAlignment32", {0, 32}},
                                         Handle{"LargestSize", {UINT64_MAX, 64}},
                                         Handle{"LargestAlignment", {16, 0x80000000}},
                                         Handle{"EventOnCuda", {16, 64, 1, 1}},
                                         Handle{"ConsumerStreamOnRocm", {16, 64, 2, 2}},
                                         Handle{"CudaPeer", {16, 4096, 1, 0, 3}},
                                         Handle{"PrivateDevice", {16, 64, 0xFE}},
                                         Handle{"PrivateDeviceAndClass", {16, 64, 0xF0, 1, 0xFE}}),
                         [](const auto& row) { return row.param.name; });

TEST(BufferHandle, NamesItsPlaceInTheTable) {
  auto bytes = Encoded({16, 96});
  EXPECT_THAT([&] { Decoded(bytes); },
              ThrowsCode(ErrorCode::kInvalidDescriptor,
                         "buffer 3: alignment is 96, it must be a power of two"));
}

TEST(BufferHandle, IsRefusedForEveryShorterInput) {
  ForEveryShorterInput(Encoded({16, 64}), [](std::span<const uint8_t> input) {
    EXPECT_THAT([&] { Decoded(input); }, ThrowsCode(ErrorCode::kInvalidDescriptor, "truncated"));
  });
}

TEST(BufferHandle, DeclaresOnlyTheAlignmentThatEveryBufferHas) {
  EXPECT_EQ(BufferHandle::Of(16, Device{}).alignment, 64u);
  EXPECT_EQ(BufferHandle::Of(0, Device{}).alignment, 1u);
  EXPECT_EQ(BufferHandle::Of(16, Device{1, 3}).device, (Device{1, 3}));
}

TEST(SyncMode, HasAName) {
  EXPECT_EQ(SyncModeName(SyncMode::kProducerSynced), "producer_synced");
  EXPECT_EQ(SyncModeName(SyncMode::kEvent), "event");
  EXPECT_EQ(SyncModeName(SyncMode::kConsumerStream), "consumer_stream");
}

}  // namespace
}  // namespace hurray
