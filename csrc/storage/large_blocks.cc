#include "storage/large_blocks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "storage/allocator_settings.h"
#include "storage/block_header.h"
#include "storage/large_block_cache.h"
#include "storage/pages.h"
#include "storage/zeroing.h"

namespace hurray {

namespace {

std::atomic<size_t> bytes_in_use{0};
std::atomic<uint64_t> hits{0};
std::atomic<uint64_t> misses{0};

size_t RoundUp(size_t size) noexcept { return AlignUp(size, PageSize()); }

// What has that size may stay in a block of this capacity, or take it from the cache.
size_t MostCapacity(size_t size) noexcept { return size + size / 4; }
// What grows does so again and again. It gets some more addresses, which cost nothing until they
// are used, and may take a block that it fills only after two more doublings.
size_t CapacityToGrow(size_t size) noexcept { return size + size / 8; }
size_t MostCapacityToGrow(size_t size) noexcept { return MostCapacity(4 * size); }

bool IsTooLarge(size_t size) noexcept { return size > PTRDIFF_MAX / 8; }

std::byte* HandOut(LargeBlock* block, size_t size) noexcept {
  block->size = size;
  bytes_in_use.fetch_add(block->capacity, std::memory_order_relaxed);
  std::byte* address = AddressOf(block);
  WriteHeader(address, {.capacity = block->capacity,
                        .offset = static_cast<uint32_t>(PageSize()),
                        .kind = BlockKind::kLarge,
                        .size_class = 0});
  return address;
}

// The header has a page of its own before the first huge page, so a block that nobody touches takes
// that small page and no more.
LargeBlock* Map(size_t capacity) noexcept {
  capacity = RoundUp(capacity);
  std::byte* start = MapPages(PageSize() + capacity, PageSize(), kHugePage);
  if (start == nullptr) {
    DropAllLargeBlocks();
    start = MapPages(PageSize() + capacity, PageSize(), kHugePage);
    if (start == nullptr) return nullptr;
  }
  if (Settings().huge_pages) AdviseHugePages(start, PageSize() + capacity);
  return new (start) LargeBlock{.capacity = capacity};
}

LargeBlock* TakeCached(size_t size, size_t most) noexcept {
  DropOldLargeBlocks();
  LargeBlock* block = TakeCachedLargeBlock(size, most);
  (block != nullptr ? hits : misses).fetch_add(1, std::memory_order_relaxed);
  if (block != nullptr) block->lazily_zeroed = false;
  return block;
}

void Zero(LargeBlock* block, size_t size) noexcept {
  std::byte* address = AddressOf(block);
  bool write = !block->seems_untouched && ZeroByWriting(size);
  block->lazily_zeroed = !write && DropPages(address, block->capacity);
  if (!block->lazily_zeroed) std::memset(address, 0, size);
}

// Looks at some pages only. The answer guides, nothing depends on it.
bool SeemsUntouched(LargeBlock* block) noexcept {
  constexpr size_t kLooks = 4;
  for (size_t i = 0; i < kLooks; ++i) {
    if (IsResident(AddressOf(block) + block->capacity / kLooks * i)) return false;
  }
  return true;
}

}  // namespace

std::byte* AllocateLarge(size_t size, bool zeroed) noexcept {
  if (IsTooLarge(size)) return nullptr;
  LargeBlock* block = TakeCached(size, MostCapacity(size));
  if (block == nullptr) {
    block = Map(size);
    if (block == nullptr) return nullptr;
    block->lazily_zeroed = zeroed;
  } else if (zeroed) {
    Zero(block, size);
  }
  return HandOut(block, size);
}

std::byte* AllocateLargeToGrow(size_t size) noexcept {
  if (IsTooLarge(size)) return nullptr;
  LargeBlock* block = TakeCached(size, MostCapacityToGrow(size));
  if (block == nullptr) block = Map(CapacityToGrow(size));
  if (block == nullptr) block = Map(size);
  return block != nullptr ? HandOut(block, size) : nullptr;
}

void FreeLarge(std::byte* address) noexcept {
  LargeBlock* block = LargeBlockAt(address);
  bytes_in_use.fetch_sub(block->capacity, std::memory_order_relaxed);
  block->seems_untouched = false;
  if (block->lazily_zeroed) {
    block->seems_untouched = SeemsUntouched(block);
    NoteUseOfZeroedBlock(!block->seems_untouched);
  }
  CacheLargeBlock(block);
}

std::byte* ReallocateLarge(std::byte* address, size_t size) noexcept {
  if (IsTooLarge(size)) return nullptr;
  LargeBlock* block = LargeBlockAt(address);
  size_t old_capacity = block->capacity;
  bool grows = size > block->size;
  if (size <= old_capacity && (grows || old_capacity <= MostCapacity(size))) {
    block->size = size;
    block->lazily_zeroed = false;
    return address;
  }
  if (grows) {
    // Pages that are there already, and a copy, before new pages.
    if (LargeBlock* cached = TakeCached(size, MostCapacityToGrow(size)); cached != nullptr) {
      std::memcpy(AddressOf(cached), address, block->size);
      FreeLarge(address);
      return HandOut(cached, size);
    }
  }
  for (size_t capacity : {RoundUp(grows ? CapacityToGrow(size) : size), RoundUp(size)}) {
    std::byte* start = RemapPages(reinterpret_cast<std::byte*>(block), PageSize() + old_capacity,
                                  PageSize() + capacity, PageSize(), kHugePage);
    if (start == nullptr) continue;
    bytes_in_use.fetch_sub(old_capacity, std::memory_order_relaxed);
    block = std::launder(reinterpret_cast<LargeBlock*>(start));
    block->capacity = capacity;
    block->lazily_zeroed = false;
    return HandOut(block, size);
  }
  std::byte* moved = AllocateLargeToGrow(size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, address, std::min(block->size, size));
  FreeLarge(address);
  return moved;
}

LargeBlockStats GetLargeBlockStats() noexcept {
  return {bytes_in_use.load(std::memory_order_relaxed), hits.load(std::memory_order_relaxed),
          misses.load(std::memory_order_relaxed)};
}

}  // namespace hurray
