// What lies before every block that the allocator hands out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace hurray {

inline constexpr size_t kBlockAlignment = 64;
// The bytes directly before a block's address, which the allocator leaves to whoever has the block.
inline constexpr size_t kBlockPrefix = 32;

enum class BlockKind : uint8_t { kSmall, kMiddle, kLarge };

// Lies before the prefix, in the cache line before the block. Freeing and growing a block use
// nothing else: the size that callers name then may be wrong.
struct BlockHeader {
  size_t capacity;  // bytes from the block's address on that its user may write
  uint32_t offset;  // middle blocks: bytes from what libc gave to the block's address
  BlockKind kind;
  uint8_t size_class;  // small blocks only
};
static_assert(sizeof(BlockHeader) == 16);

// Every block has that many bytes of its own before its address.
inline constexpr size_t kBeforeBlock = sizeof(BlockHeader) + kBlockPrefix;
static_assert(kBeforeBlock <= kBlockAlignment);

inline BlockHeader* HeaderOf(void* block) noexcept {
  return std::launder(
      reinterpret_cast<BlockHeader*>(static_cast<std::byte*>(block) - kBeforeBlock));
}
inline void WriteHeader(void* block, const BlockHeader& header) noexcept {
  new (static_cast<std::byte*>(block) - kBeforeBlock) BlockHeader(header);
}

constexpr uintptr_t AlignUp(uintptr_t value, size_t alignment) noexcept {
  return (value + alignment - 1) & ~(uintptr_t{alignment} - 1);
}
constexpr uintptr_t AlignDown(uintptr_t value, size_t alignment) noexcept {
  return value & ~(uintptr_t{alignment} - 1);
}

}  // namespace hurray
