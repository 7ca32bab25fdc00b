#include "storage/aligned_memory.h"

#include "storage/allocator.h"

namespace hurray {

void* AllocateAligned(size_t size, size_t alignment, bool zeroed) noexcept {
  return AllocateAt(alignment, size, zeroed);
}

void FreeAligned(void* memory) noexcept { Free(memory); }

size_t GuaranteedAlignment(size_t size) noexcept {
  return size >= kSmallestLarge ? kLargeBlockAlignment : kBlockAlignment;
}

}  // namespace hurray
