#include "storage/large_blocks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "storage/allocator_settings.h"
#include "storage/block_header.h"
#include "storage/pages.h"
#include "storage/zeroing.h"

namespace hurray {

namespace {

// The first page of a mapping begins with this; the block follows on that page.
struct LargeBlock : CachedBlock {
  size_t size = 0;  // what was asked for
  // As AllocateLarge left it: zeroed, and pages come when they are touched.
  bool lazily_zeroed = false;
  // Nothing was seen in it when it was freed.
  bool seems_untouched = false;
  size_t spare = 0;  // its part of spare_bytes
};

std::byte* AddressOf(LargeBlock* block) noexcept {
  return reinterpret_cast<std::byte*>(block) + PageSize();
}

LargeBlock* LargeBlockAt(std::byte* address) noexcept {
  return std::launder(reinterpret_cast<LargeBlock*>(address - PageSize()));
}

void Unmap(CachedBlock* block) noexcept {
  size_t size = PageSize() + block->capacity;
  UnmapPages(reinterpret_cast<std::byte*>(static_cast<LargeBlock*>(block)), size);
}

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

// Or an even larger one, so that it need not be copied at each step, as long as all blocks that are
// too large for what they hold have no more than this share of what may be cached to spare.
constexpr size_t kSpareShare = 8;
std::atomic<size_t> spare_bytes{0};

void CountSpare(LargeBlock* block) noexcept {
  size_t most = MostCapacityToGrow(block->size);
  size_t spare = block->capacity > most ? block->capacity - most : 0;
  spare_bytes.fetch_add(spare - block->spare, std::memory_order_relaxed);
  block->spare = spare;
}

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
    large_block_cache.DropAll();
    start = MapPages(PageSize() + capacity, PageSize(), kHugePage);
    if (start == nullptr) return nullptr;
  }
  misses.fetch_add(1, std::memory_order_relaxed);
  if (Settings().huge_pages) AdviseHugePages(start, PageSize() + capacity);
  auto* block = new (start) LargeBlock;
  block->capacity = capacity;
  return block;
}

LargeBlock* TakeCached(size_t size, size_t most) noexcept {
  large_block_cache.DropOld();
  auto* block = static_cast<LargeBlock*>(large_block_cache.Take(size, most));
  if (block == nullptr) return nullptr;
  hits.fetch_add(1, std::memory_order_relaxed);
  block->lazily_zeroed = false;
  return block;
}

LargeBlock* TakeCachedToGrow(size_t size) noexcept {
  size_t most_spare = Settings().cache_bytes / kSpareShare;
  size_t spare = std::min(spare_bytes.load(std::memory_order_relaxed), most_spare);
  LargeBlock* block = TakeCached(size, MostCapacityToGrow(size) + (most_spare - spare));
  if (block != nullptr) {
    block->size = size;
    CountSpare(block);
  }
  return block;
}

void Zero(LargeBlock* block, size_t size) noexcept {
  std::byte* address = AddressOf(block);
  bool write = !block->seems_untouched && ZeroByWriting(size);
  block->lazily_zeroed = !write && DropPages(address, block->capacity);
  if (!block->lazily_zeroed) std::memset(address, 0, size);
}

// Looks at some pages only, to guide what is done next; nothing depends on it.
void LookWhetherUsed(LargeBlock* block) noexcept {
  constexpr size_t kLooks = 4;
  for (size_t i = 0; i < kLooks; ++i) {
    auto resident = IsResident(AddressOf(block) + block->capacity / kLooks * i);
    if (!resident) return;
    if (*resident) {
      NoteUseOfZeroedBlock(true);
      return;
    }
  }
  block->seems_untouched = true;
  NoteUseOfZeroedBlock(false);
}

}  // namespace

constinit BlockCache large_block_cache(Unmap, 1);

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

std::byte* TakeLargeToGrow(size_t size) noexcept {
  if (large_block_cache.bytes() < size) return nullptr;
  LargeBlock* block = TakeCachedToGrow(size);
  return block != nullptr ? HandOut(block, size) : nullptr;
}

std::byte* AllocateLargeToGrow(size_t size) noexcept {
  if (IsTooLarge(size)) return nullptr;
  LargeBlock* block = TakeCachedToGrow(size);
  if (block == nullptr) block = Map(CapacityToGrow(size));
  if (block == nullptr) block = Map(size);
  return block != nullptr ? HandOut(block, size) : nullptr;
}

void FreeLarge(std::byte* address) noexcept {
  LargeBlock* block = LargeBlockAt(address);
  bytes_in_use.fetch_sub(block->capacity, std::memory_order_relaxed);
  spare_bytes.fetch_sub(block->spare, std::memory_order_relaxed);
  block->spare = 0;
  block->seems_untouched = false;
  if (block->lazily_zeroed) LookWhetherUsed(block);
  large_block_cache.Put(block);
}

size_t SizeOfLarge(std::byte* address) noexcept { return LargeBlockAt(address)->size; }

std::byte* ReallocateLarge(std::byte* address, size_t size) noexcept {
  if (IsTooLarge(size)) return nullptr;
  LargeBlock* block = LargeBlockAt(address);
  size_t old_capacity = block->capacity;
  bool grows = size >= block->size;
  if (size <= old_capacity && (grows || old_capacity <= MostCapacity(size))) {
    block->size = size;
    if (block->spare != 0) CountSpare(block);
    block->lazily_zeroed = false;
    return address;
  }
  if (grows) {
    // Pages that are there already, and a copy, before new pages.
    if (LargeBlock* cached = TakeCachedToGrow(size); cached != nullptr) {
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
    block->size = size;
    if (block->spare != 0) CountSpare(block);
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
