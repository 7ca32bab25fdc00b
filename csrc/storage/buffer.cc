#include "storage/buffer.h"

#include <atomic>
#include <cstring>
#include <new>

#include "storage/aligned_memory.h"

namespace hurray {

namespace {

constexpr uint32_t kLargestMeasured = 4096;

// The count of an owned block lies in the bytes before it; its owner is the block itself.
struct Count {
  std::atomic<size_t> handles;
};
static_assert(sizeof(Count) <= kBlockPrefix);

Count* CountOf(void* block) noexcept {
  return std::launder(reinterpret_cast<Count*>(static_cast<unsigned char*>(block) - sizeof(Count)));
}

constexpr OwnerOps kOwnMemory{
    [](void* block) noexcept { CountOf(block)->handles.fetch_add(1, std::memory_order_relaxed); },
    [](void* block) noexcept {
      if (CountOf(block)->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) FreeAligned(block);
    },
    true,
};

}  // namespace

Buffer Buffer::Allocate(size_t size, size_t alignment, bool zeroed) {
  if (size == 0) return Buffer();
  void* block = AllocateAligned(size, alignment < 64 ? 64 : alignment, zeroed);
  if (block == nullptr) throw std::bad_alloc();
  new (static_cast<unsigned char*>(block) - sizeof(Count)) Count{1};
  return Buffer(static_cast<uint8_t*>(block), size, true, block, &kOwnMemory);
}

Buffer Buffer::CopyOf(std::span<const uint8_t> bytes, size_t alignment) {
  Buffer copy = Allocate(bytes.size(), alignment);
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

uint32_t Buffer::alignment() const noexcept {
  if (size_ == 0) return 1;
  if (ops_ == &kOwnMemory && data_ == owner_) {
    return static_cast<uint32_t>(GuaranteedAlignment(size_));
  }
  return AddressAlignment(data_);
}

Buffer Buffer::Slice(size_t offset, size_t size) const noexcept {
  Buffer slice(*this);
  slice.data_ = size == 0 ? nullptr : data_ + offset;
  slice.size_ = size;
  return slice;
}

uint32_t AddressAlignment(const void* address) noexcept {
  auto value = reinterpret_cast<uintptr_t>(address);
  uintptr_t lowest = value & (~value + 1);
  return lowest == 0 || lowest > kLargestMeasured ? kLargestMeasured
                                                  : static_cast<uint32_t>(lowest);
}

}  // namespace hurray
