#include "storage/middle_blocks.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "storage/block_header.h"
#include "storage/thread_lists.h"

namespace hurray {

namespace {

// Not aligned_alloc: it zeroes by hand, cannot be reallocated, and some versions of glibc never
// reuse what it leaves between blocks.
constexpr size_t Surplus(size_t alignment) noexcept { return kBeforeBlock + alignment; }

std::byte* PlaceIn(std::byte* allocation, size_t alignment) noexcept {
  uintptr_t start = reinterpret_cast<uintptr_t>(allocation);
  return allocation + (AlignUp(start + kBeforeBlock, alignment) - start);
}

void Describe(std::byte* block, std::byte* allocation, size_t size) noexcept {
  WriteHeader(block, {.capacity = size,
                      .offset = static_cast<uint32_t>(block - allocation),
                      .kind = BlockKind::kMiddle,
                      .size_class = 0});
}

}  // namespace

std::byte* AllocateMiddle(size_t size, size_t alignment, bool zeroed) noexcept {
  if (size > PTRDIFF_MAX - Surplus(alignment)) return nullptr;
  size_t total = size + Surplus(alignment);
  auto* allocation = static_cast<std::byte*>(zeroed ? std::calloc(total, 1) : std::malloc(total));
  if (allocation == nullptr) return nullptr;
  std::byte* block = PlaceIn(allocation, alignment);
  Describe(block, allocation, size);
  CountMiddle(1, static_cast<int64_t>(size));
  return block;
}

void FreeMiddle(std::byte* block) noexcept {
  const BlockHeader* header = HeaderOf(block);
  CountMiddle(0, -static_cast<int64_t>(header->capacity));
  std::free(block - header->offset);
}

std::byte* ReallocateMiddle(std::byte* block, size_t size) noexcept {
  constexpr size_t kSurplus = Surplus(kBlockAlignment);
  const BlockHeader old = *HeaderOf(block);
  if (size > PTRDIFF_MAX - kSurplus) return nullptr;
  size_t total = std::max<size_t>(size + kSurplus, size + old.offset);
  auto* allocation = static_cast<std::byte*>(std::realloc(block - old.offset, total));
  if (allocation == nullptr) return nullptr;
  std::byte* moved = PlaceIn(allocation, kBlockAlignment);
  if (moved != allocation + old.offset) {
    std::memmove(moved, allocation + old.offset, std::min(old.capacity, size));
  }
  Describe(moved, allocation, size);
  CountMiddle(0, static_cast<int64_t>(size) - static_cast<int64_t>(old.capacity));
  return moved;
}

}  // namespace hurray
