// A handle on bytes, wherever they come from, that keeps them alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace hurray {

// How one kind of owner is kept and let go. Both may be called on any thread.
struct OwnerOps {
  void (*retain)(void* owner) noexcept;
  void (*release)(void* owner) noexcept;
  // The memory is ours alone: no foreign object is kept alive through the owner.
  bool is_own_memory;
};

// A counted handle: copying it retains the owner, destroying it releases the owner, on whatever
// thread that happens. An empty buffer may have a null address.
class Buffer {
 public:
  Buffer() noexcept = default;
  // Takes over one count of `owner` (null: nobody owns the bytes, they live for ever).
  Buffer(uint8_t* data, size_t size, bool writable, void* owner, const OwnerOps* ops) noexcept
      : data_(data), size_(size), owner_(owner), ops_(ops), writable_(writable) {}

  // New memory at a multiple of `alignment` (a power of two; at least 64 is given), zeroed on
  // request. Throws std::bad_alloc.
  static Buffer Allocate(size_t size, size_t alignment = 64, bool zeroed = false);
  // A copy of `bytes` in new memory.
  static Buffer CopyOf(std::span<const uint8_t> bytes, size_t alignment = 64);

  Buffer(const Buffer& other) noexcept
      : data_(other.data_),
        size_(other.size_),
        owner_(other.owner_),
        ops_(other.ops_),
        writable_(other.writable_) {
    if (owner_ != nullptr) ops_->retain(owner_);
  }
  Buffer(Buffer&& other) noexcept
      : data_(other.data_),
        size_(other.size_),
        owner_(std::exchange(other.owner_, nullptr)),
        ops_(other.ops_),
        writable_(other.writable_) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owner_, other.owner_);
    std::swap(ops_, other.ops_);
    std::swap(writable_, other.writable_);
    return *this;
  }
  ~Buffer() {
    if (owner_ != nullptr) ops_->release(owner_);
  }

  uint8_t* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  std::span<const uint8_t> bytes() const noexcept { return {data_, size_}; }
  bool writable() const noexcept { return writable_; }
  // Nothing but our own allocation is kept alive.
  bool owns_data() const noexcept { return ops_ == nullptr || ops_->is_own_memory; }
  // What the memory has now, in bytes: what our allocator guarantees for its own, else the power
  // of two that divides the address, at most 4096; 1 for no bytes.
  uint32_t alignment() const noexcept;

  // The same bytes from `offset` on, kept alive by the same owner.
  // REQUIRES: offset + size <= this->size().
  Buffer Slice(size_t offset, size_t size) const noexcept;

  void* owner() const noexcept { return owner_; }
  const OwnerOps* ops() const noexcept { return ops_; }
  // Lets go of the owner without releasing it; whoever calls this takes over its count.
  void* DetachOwner() noexcept { return std::exchange(owner_, nullptr); }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  void* owner_ = nullptr;
  const OwnerOps* ops_ = nullptr;
  bool writable_ = true;
};

// The power of two that divides an address, at most 4096.
uint32_t AddressAlignment(const void* address) noexcept;

}  // namespace hurray
