// What decoding costs in memory: nothing for the common descriptor, and never more than the input
// justifies. This file replaces the global allocation functions of the test binary.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "core/descriptor.h"
#include "testing.h"
#include "wire_descriptor.h"

namespace {

std::atomic<size_t> allocations{0};
std::atomic<size_t> allocated_bytes{0};

void* Allocate(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  allocated_bytes.fetch_add(size, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

// All of them: without a sanitizer the array forms call the others, but the sanitizers bring array
// forms of their own.
void* operator new(size_t size) {
  if (void* memory = Allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace hurray {
namespace {

struct Cost {
  size_t allocations;
  size_t bytes;
};

// What `use` allocates; what it frees again counts too.
template <typename Use>
Cost CostOf(Use use) {
  size_t count = allocations, bytes = allocated_bytes;
  use();
  return {allocations - count, allocated_bytes - bytes};
}

// Decoding, copying, comparing and asking; the bytes are made outside.
Cost CostOfUsing(const WireDescriptor& wire) {
  auto bytes = wire.Encode();
  std::vector<uint8_t> again(bytes.size());
  Cost cost = CostOf([&] {
    TensorDescriptor descriptor = TensorDescriptor::Decode(bytes);
    TensorDescriptor copy(descriptor);
    TensorDescriptor moved(std::move(copy));
    descriptor.EncodeTo(again);
    if (!(moved == descriptor) || descriptor.encoded_size() != again.size()) std::abort();
  });
  EXPECT_EQ(again, bytes);
  return cost;
}

WireDescriptor Wire(uint8_t layout_tag, size_t rank) {
  WireDescriptor wire;
  wire.layout_tag = layout_tag;
  wire.shape.assign(rank, 2);
  wire.handles = {{uint64_t{1} << rank}};
  if (layout_tag == 0x03) wire.payload = LittleEndian(std::vector<int64_t>(rank, 1));
  return wire;
}

struct DenseTensor {
  std::string name;
  uint8_t layout_tag;
  size_t rank;
};

class DescriptorOfADenseTensor : public testing::TestWithParam<DenseTensor> {};

TEST_P(DescriptorOfADenseTensor, AllocatesNothing) {
  Cost cost = CostOfUsing(Wire(GetParam().layout_tag, GetParam().rank));
  EXPECT_EQ(cost.allocations, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DescriptorOfADenseTensor,
    testing::Values(DenseTensor{"Scalar", 0x01, 0}, DenseTensor{"RowMajorRank2", 0x01, 2},
                    DenseTensor{"RowMajorRank8", 0x01, 8}, DenseTensor{"ColMajorRank8", 0x02, 8},
                    DenseTensor{"StridedRank1", 0x03, 1}, DenseTensor{"StridedRank8", 0x03, 8}),
    [](const auto& row) { return row.param.name; });

TEST(DescriptorAllocations, OfALongTableAreNoMoreThanTheTable) {
  WireDescriptor wire = Wire(0x01, 2);
  wire.handles.resize(255);
  auto bytes = wire.Encode();
  Cost cost = CostOf([&] { TensorDescriptor::Decode(bytes); });
  EXPECT_EQ(cost.allocations, 1u);
  EXPECT_LE(cost.bytes, 255 * sizeof(BufferHandle));
}

TEST(DescriptorAllocations, OfManyDimensionsAreNoMoreThanTheDimensions) {
  WireDescriptor wire = Wire(0x03, 20);
  wire.shape.assign(64, 1);
  wire.payload = LittleEndian(std::vector<int64_t>(64, 1));
  auto bytes = wire.Encode();
  Cost cost = CostOf([&] { TensorDescriptor::Decode(bytes); });
  EXPECT_EQ(cost.allocations, 2u);
  EXPECT_LE(cost.bytes, 2 * 64 * sizeof(uint64_t));
}

// Counts and lengths that the input does not back must be refused before anything is allocated for
// them. What remains is the exception with its message.
struct Claim {
  std::string name;
  void (*make)(WireDescriptor&);
};

class DescriptorThatClaimsTooMuch : public testing::TestWithParam<Claim> {};

TEST_P(DescriptorThatClaimsTooMuch, IsRefusedBeforeAnythingIsAllocatedForIt) {
  WireDescriptor wire = Wire(0x01, 2);
  GetParam().make(wire);
  auto bytes = wire.Encode();
  for (Mode mode : {Mode::kStrict, Mode::kPermissive}) {
    Cost cost = CostOf([&] {
      try {
        TensorDescriptor::Decode(bytes, mode);
        std::abort();
      } catch (const Error&) {
      }
    });
    EXPECT_LE(cost.bytes, 4096u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DescriptorThatClaimsTooMuch,
    testing::Values(Claim{"DescriptorLength", [](WireDescriptor& w) { w.length = 0xFFFFFFFF; }},
                    Claim{"Rank", [](WireDescriptor& w) { w.rank = 64; }},
                    Claim{"RankOfBillions", [](WireDescriptor& w) { w.rank = 0xFFFFFFFF; }},
                    Claim{"Buffers", [](WireDescriptor& w) { w.buffer_count = 255; }},
                    Claim{"QuantizationLength",
                          [](WireDescriptor& w) { w.AddSection(1, Bytes("FFFFFF7F 01010000")); }},
                    Claim{"PrivateLayoutData",
                          [](WireDescriptor& w) {
                            w.layout_tag = 0xF0;
                            w.payload = Bytes("0000000000000000 FFFFFF7F");
                          }},
                    Claim{"Strides",
                          [](WireDescriptor& w) {
                            w.layout_tag = 0x03;
                            w.shape.assign(64, 1);
                          }}),
    [](const auto& row) { return row.param.name; });

// Bytes of a reserved layout in which a buffer table and a quantization section that reaches to the
// end could begin at many places, but the byte offset makes each of them wrong.
WireDescriptor WithManySplits(size_t splits) {
  WireDescriptor wire;
  wire.layout_tag = 0x0C;
  wire.shape = {2, 3};
  wire.flags = 1;
  wire.byte_offset = 7;
  auto part =
      Bytes("01 0600000000000000 40000000 00000000 00000000 01010000 0000803F 00000000 00000000");
  constexpr size_t kLengthEnd = 1 + 16 + 4;
  std::vector<uint8_t> rest;
  for (size_t left = splits; left > 0; --left) {
    ByteWriter(std::span(part).subspan(kLengthEnd - 4))
        .WriteU32(static_cast<uint32_t>(left * part.size() - kLengthEnd));
    rest.insert(rest.end(), part.begin(), part.end());
  }
  wire.buffer_count = rest[0];
  wire.sections.assign(rest.begin() + 1, rest.end());
  return wire;
}

TEST(DescriptorAllocations, OfTheSearchForAnUnknownPayloadsEndAreLinear) {
  auto bytes = WithManySplits(10000).Encode();
  Cost cost = CostOf([&] {
    EXPECT_THAT([&] { TensorDescriptor::Decode(bytes, Mode::kPermissive); },
                ThrowsCode(ErrorCode::kInvalidDescriptor, "no split"));
  });
  // A few hundred bytes for each of the places, whose exceptions are made and dropped.
  EXPECT_LE(cost.bytes, 32 * bytes.size());
}

TEST(DescriptorAllocations, OfTheSearchForAnUnknownPayloadsEndAreBounded) {
  auto bytes = WithManySplits(20000).Encode();
  EXPECT_THAT([&] { TensorDescriptor::Decode(bytes, Mode::kPermissive); },
              ThrowsCode(ErrorCode::kInvalidDescriptor, "more than 16384 places"));
}

}  // namespace
}  // namespace hurray
