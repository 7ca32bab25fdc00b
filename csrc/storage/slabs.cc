#include "storage/slabs.h"

#include <cstdint>
#include <mutex>

#include "storage/allocator_settings.h"
#include "storage/memory_poison.h"
#include "storage/pages.h"
#include "storage/size_classes.h"

namespace hurray {

namespace {

// Slabs lie at multiples of their size, so a block's address tells where its slab begins.
constexpr size_t kSlabBytes = size_t{256} << 10;
constexpr size_t kSlabsPerMapping = 8;
constexpr size_t kWarmShare = 4;

struct Slab {
  Slab* previous;  // in the list of its class, or of empty slabs
  Slab* next;
  std::byte* free;  // blocks that came back
  uint32_t size_class;
  uint32_t carved;  // how many blocks have been made; the rest of the memory is untouched
  uint32_t out;     // how many blocks threads have
};

constexpr size_t kFirstBlock = (sizeof(Slab) + kBeforeBlock + 63) / 64 * 64;

constexpr uint32_t BlocksPerSlab(size_t size_class) {
  size_t stride = kSizeClasses.stride[size_class];
  return static_cast<uint32_t>((kSlabBytes - kFirstBlock + kBeforeBlock) / stride);
}

struct SlabList {
  Slab* first = nullptr;

  void Add(Slab* slab) noexcept {
    slab->previous = nullptr;
    slab->next = first;
    if (first != nullptr) first->previous = slab;
    first = slab;
  }
  void Remove(Slab* slab) noexcept {
    (slab->previous != nullptr ? slab->previous->next : first) = slab->next;
    if (slab->next != nullptr) slab->next->previous = slab->previous;
  }
};

// Everything below belongs to whoever holds the lock. Nothing here is ever destroyed: arrays are
// freed until the very end of the process.
constinit std::mutex lock;
constinit SlabList with_room[kClassCount];
constinit SlabList warm;  // empty, and their memory is still there
constinit size_t warm_count = 0;
constinit SlabList cold;                // empty, of whose memory only the first page may be there
constinit std::byte* unused = nullptr;  // the slabs of the last mapping that never were used
constinit size_t unused_count = 0;
constinit SlabStats stats{0, 0};

Slab* SlabOf(std::byte* block) noexcept {
  uintptr_t start = AlignDown(reinterpret_cast<uintptr_t>(block), kSlabBytes);
  return std::launder(reinterpret_cast<Slab*>(start));
}

bool HasRoom(const Slab* slab) noexcept {
  return slab->free != nullptr || slab->carved < BlocksPerSlab(slab->size_class);
}

Slab* TakeEmpty() noexcept {
  if (Slab* slab = warm.first; slab != nullptr) {
    warm.Remove(slab);
    --warm_count;
    stats.bytes_free -= kSlabBytes;
    return slab;
  }
  if (Slab* slab = cold.first; slab != nullptr) {
    cold.Remove(slab);
    return slab;
  }
  if (unused_count == 0) {
    // Several at once, or a single one where addresses are scarce.
    for (size_t count : {kSlabsPerMapping, size_t{1}}) {
      unused = MapPages(count * kSlabBytes, 0, kSlabBytes);
      unused_count = unused != nullptr ? count : 0;
      if (unused_count != 0) break;
    }
    if (unused_count == 0) return nullptr;
  }
  --unused_count;
  return new (unused + unused_count * kSlabBytes) Slab{};
}

// Its first page stays: the links of the list are in there.
void MakeCold(Slab* slab) noexcept {
  size_t page = PageSize();
  DropPages(reinterpret_cast<std::byte*>(slab) + page, kSlabBytes - page);
  cold.Add(slab);
}

// Some empty slabs keep their memory, to be carved again without a page fault: a quarter of what
// large blocks may keep.
size_t MostWarmSlabs() noexcept { return Settings().cache_bytes / kWarmShare / kSlabBytes; }

void PutEmpty(Slab* slab) noexcept {
  if (warm_count >= MostWarmSlabs()) {
    MakeCold(slab);
    return;
  }
  warm.Add(slab);
  ++warm_count;
  stats.bytes_free += kSlabBytes;
}

Slab* SlabWithRoom(size_t size_class) noexcept {
  if (with_room[size_class].first != nullptr) return with_room[size_class].first;
  Slab* slab = TakeEmpty();
  if (slab == nullptr) return nullptr;
  UnpoisonMemory(slab, kSlabBytes);
  slab->free = nullptr;
  slab->size_class = static_cast<uint32_t>(size_class);
  slab->carved = 0;
  slab->out = 0;
  with_room[size_class].Add(slab);
  return slab;
}

std::byte* Carve(Slab* slab) noexcept {
  std::byte* block = reinterpret_cast<std::byte*>(slab) + kFirstBlock +
                     size_t{slab->carved} * kSizeClasses.stride[slab->size_class];
  ++slab->carved;
  WriteHeader(block, {.capacity = CapacityOf(slab->size_class),
                      .offset = 0,
                      .kind = BlockKind::kSmall,
                      .size_class = static_cast<uint8_t>(slab->size_class)});
  new (block - kBlockPrefix) std::byte*(nullptr);
  PoisonMemory(block, CapacityOf(slab->size_class));
  return block;
}

}  // namespace

std::byte* TakeFromSlabs(size_t size_class, size_t count) noexcept {
  std::lock_guard held(lock);
  size_t stride = kSizeClasses.stride[size_class];
  std::byte* list = nullptr;
  for (; count > 0; --count) {
    Slab* slab = SlabWithRoom(size_class);
    if (slab == nullptr) break;
    std::byte* block = slab->free;
    if (block != nullptr) {
      slab->free = NextFree(block);
      stats.bytes_free -= stride;
    } else {
      block = Carve(slab);
    }
    ++slab->out;
    if (!HasRoom(slab)) with_room[size_class].Remove(slab);
    stats.bytes_out += stride;
    NextFree(block) = list;
    list = block;
  }
  return list;
}

void GiveToSlabs(std::byte* list) noexcept {
  std::lock_guard held(lock);
  while (list != nullptr) {
    std::byte* block = list;
    list = NextFree(block);
    Slab* slab = SlabOf(block);
    size_t stride = kSizeClasses.stride[slab->size_class];
    if (!HasRoom(slab)) with_room[slab->size_class].Add(slab);
    NextFree(block) = slab->free;
    slab->free = block;
    --slab->out;
    stats.bytes_out -= stride;
    stats.bytes_free += stride;
    if (slab->out == 0) {
      stats.bytes_free -= slab->carved * stride;
      with_room[slab->size_class].Remove(slab);
      PutEmpty(slab);
    }
  }
}

void TrimSlabs() noexcept {
  std::lock_guard held(lock);
  while (Slab* slab = warm.first) {
    warm.Remove(slab);
    --warm_count;
    stats.bytes_free -= kSlabBytes;
    MakeCold(slab);
  }
}

SlabStats GetSlabStats() noexcept {
  std::lock_guard held(lock);
  return stats;
}

void LockSlabs() noexcept { lock.lock(); }
void UnlockSlabs() noexcept { lock.unlock(); }

}  // namespace hurray
