#include "storage/buffer.h"

#include <array>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "testing.h"

namespace hurray {
namespace {

using testing::Each;
using testing::ElementsAre;

uintptr_t AddressOf(const Buffer& buffer) { return reinterpret_cast<uintptr_t>(buffer.data()); }

TEST(Buffer, IsEmptyByDefault) {
  Buffer buffer;
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_TRUE(buffer.bytes().empty());
  EXPECT_EQ(buffer.alignment(), 1u);
  EXPECT_EQ(Buffer::Allocate(0).size(), 0u);
}

class AllocatedBuffer : public testing::TestWithParam<size_t> {};

TEST_P(AllocatedBuffer, IsAlignedAndWritable) {
  for (size_t alignment : {size_t{1}, size_t{64}, size_t{4096}, size_t{1} << 21}) {
    Buffer buffer = Buffer::Allocate(GetParam(), alignment);
    EXPECT_EQ(AddressOf(buffer) % alignment, 0u);
    EXPECT_EQ(AddressOf(buffer) % 64, 0u);
    EXPECT_GE(buffer.alignment(), 64u);
    EXPECT_EQ(AddressOf(buffer) % buffer.alignment(), 0u);
    EXPECT_TRUE(buffer.writable());
    EXPECT_TRUE(buffer.owns_data());
    buffer.data()[0] = 1;
    buffer.data()[GetParam() - 1] = 2;
  }
}

TEST_P(AllocatedBuffer, IsZeroOnRequest) {
  EXPECT_THAT(Buffer::Allocate(GetParam(), 64, true).bytes(), Each(0));
}

INSTANTIATE_TEST_SUITE_P(Sizes, AllocatedBuffer, testing::Values(1, 63, 64, 4097, 5 << 20),
                         [](const auto& row) { return std::to_string(row.param); });

TEST(Buffer, ThrowsWhereThereIsNoMemory) {
  EXPECT_THROW(Buffer::Allocate(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW(Buffer::Allocate(PTRDIFF_MAX), std::bad_alloc);
}

TEST(Buffer, DeclaresAnAlignmentThatDoesNotDependOnTheAddress) {
  EXPECT_EQ(Buffer::Allocate(100).alignment(), 64u);
  EXPECT_EQ(Buffer::Allocate(100, 4096).alignment(), 64u);
}

TEST(Buffer, CopiesBytes) {
  std::vector<uint8_t> bytes{1, 2, 3};
  Buffer copy = Buffer::CopyOf(bytes);
  bytes[0] = 9;
  EXPECT_THAT(copy.bytes(), ElementsAre(1, 2, 3));
  EXPECT_EQ(Buffer::CopyOf({}).size(), 0u);
}

TEST(Buffer, SharesItsMemoryWithItsCopies) {
  Buffer buffer = Buffer::CopyOf(std::vector<uint8_t>{1, 2, 3});
  Buffer copy(buffer);
  buffer.data()[0] = 7;
  buffer = Buffer();
  EXPECT_THAT(copy.bytes(), ElementsAre(7, 2, 3));
  Buffer moved(std::move(copy));
  EXPECT_THAT(moved.bytes(), ElementsAre(7, 2, 3));
  const Buffer& same = moved;
  moved = same;
  EXPECT_THAT(moved.bytes(), ElementsAre(7, 2, 3));
}

TEST(BufferSlice, KeepsTheWholeAlive) {
  Buffer slice = Buffer::CopyOf(std::vector<uint8_t>{1, 2, 3, 4}).Slice(1, 2);
  EXPECT_THAT(slice.bytes(), ElementsAre(2, 3));
  EXPECT_TRUE(slice.owns_data());
}

TEST(BufferSlice, MeasuresItsOwnAddress) {
  Buffer buffer = Buffer::Allocate(8192, 4096);
  EXPECT_EQ(buffer.Slice(8, 8).alignment(), 8u);
  EXPECT_EQ(buffer.Slice(1, 8).alignment(), 1u);
  EXPECT_EQ(buffer.Slice(4096, 8).alignment(), 4096u);
  EXPECT_EQ(buffer.Slice(8, 0).alignment(), 1u);
}

// An owner that counts how often it is kept and let go.
struct Owner {
  std::atomic<int> count{1};
  std::atomic<int> released_for_good{0};
};
constexpr OwnerOps kCounting{
    [](void* owner) noexcept { static_cast<Owner*>(owner)->count.fetch_add(1); },
    [](void* owner) noexcept {
      auto* counted = static_cast<Owner*>(owner);
      if (counted->count.fetch_sub(1) == 1) counted->released_for_good.fetch_add(1);
    },
    false,
};

class BorrowedBuffer : public testing::Test {
 protected:
  Owner owner;
  alignas(64) std::array<uint8_t, 64> memory{};
  Buffer Make() { return Buffer(memory.data(), memory.size(), false, &owner, &kCounting); }
};

TEST_F(BorrowedBuffer, ReleasesItsOwnerOnce) {
  {
    Buffer buffer = Make();
    Buffer copy(buffer);
    Buffer moved(std::move(buffer));
    Buffer slice = moved.Slice(3, 4);
    copy = slice;
    EXPECT_EQ(owner.released_for_good, 0);
  }
  EXPECT_EQ(owner.count, 0);
  EXPECT_EQ(owner.released_for_good, 1);
}

TEST_F(BorrowedBuffer, IsNotItsOwnMemory) {
  Buffer buffer = Make();
  EXPECT_FALSE(buffer.owns_data());
  EXPECT_FALSE(buffer.writable());
  EXPECT_EQ(buffer.alignment(), AddressAlignment(memory.data()));
  EXPECT_EQ(buffer.owner(), &owner);
  EXPECT_EQ(buffer.ops(), &kCounting);
}

TEST_F(BorrowedBuffer, HandsItsCountOverWhenDetached) {
  void* detached = nullptr;
  {
    Buffer buffer = Make();
    detached = buffer.DetachOwner();
  }
  EXPECT_EQ(owner.count, 1);
  kCounting.release(detached);
  EXPECT_EQ(owner.released_for_good, 1);
}

TEST_F(BorrowedBuffer, MayBeReleasedOnAnyThread) {
  std::vector<std::thread> threads;
  {
    Buffer buffer = Make();
    Buffer own = Buffer::Allocate(100);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([buffer, own] {
        for (int round = 0; round < 1000; ++round) {
          Buffer copy(buffer), other(own);
          Buffer slice = other.Slice(1, 2);
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(owner.released_for_good, 1);
}

TEST(Buffer, WithoutAnOwnerLivesForEver) {
  static uint8_t byte = 5;
  Buffer buffer(&byte, 1, true, nullptr, nullptr);
  EXPECT_TRUE(buffer.owns_data());
  Buffer copy(buffer);
  EXPECT_THAT(copy.bytes(), ElementsAre(5));
}

TEST(AddressAlignment, IsThePowerOfTwoThatDividesTheAddress) {
  auto at = [](uintptr_t address) { return reinterpret_cast<const void*>(address); };
  EXPECT_EQ(AddressAlignment(at(0x10001)), 1u);
  EXPECT_EQ(AddressAlignment(at(0x10040)), 64u);
  EXPECT_EQ(AddressAlignment(at(0x11000)), 4096u);
  EXPECT_EQ(AddressAlignment(at(0x100000)), 4096u);
  EXPECT_EQ(AddressAlignment(nullptr), 4096u);
}

}  // namespace
}  // namespace hurray
