#include "storage/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "storage/allocator_settings.h"
#include "storage/block_header.h"

namespace hurray {

namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

std::atomic<size_t> mapping_count{0};

// Where the next mapping should end: below the last one, which is likely to be free. Another
// thread may have taken it in the meantime; then the system says so by its answer.
std::atomic<uintptr_t> next_end{0};

std::byte* Map(uintptr_t wish, size_t size, int protection) noexcept {
  void* start =
      ::mmap(reinterpret_cast<void*>(wish), size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start == MAP_FAILED ? nullptr : static_cast<std::byte*>(start);
}

void Unmap(std::byte* start, size_t size) noexcept {
  if (size != 0) ::munmap(start, size);
}

uintptr_t Address(const std::byte* start) noexcept { return reinterpret_cast<uintptr_t>(start); }

// One system call if the address that is next is free, four at most.
std::byte* MapAligned(size_t size, size_t lead, size_t alignment, int protection) noexcept {
  uintptr_t end = next_end.load(std::memory_order_relaxed);
  if (end > size + alignment && !Settings().portable) {
    uintptr_t wish = AlignDown(end - size + lead, alignment) - lead;
    std::byte* start = Map(wish, size, protection);
    if (start == nullptr) return nullptr;
    if ((Address(start) + lead) % alignment == 0) {
      next_end.store(Address(start), std::memory_order_relaxed);
      return start;
    }
    Unmap(start, size);
  }
  if (size > SIZE_MAX - alignment) return nullptr;
  std::byte* room = Map(0, size + alignment, protection);
  if (room == nullptr) return nullptr;
  size_t before = AlignUp(Address(room) + lead, alignment) - lead - Address(room);
  std::byte* start = room + before;
  Unmap(room, before);
  Unmap(start + size, alignment - before);
  next_end.store(Address(start), std::memory_order_relaxed);
  return start;
}

#ifdef __linux__
std::byte* Remap(std::byte* start, size_t old_size, size_t new_size, size_t lead,
                 size_t alignment) noexcept {
  if (::mremap(start, old_size, new_size, 0) != MAP_FAILED) return start;
  std::byte* target = MapAligned(new_size, lead, alignment, PROT_NONE);
  if (target == nullptr) return nullptr;
  if (::mremap(start, old_size, new_size, MREMAP_MAYMOVE | MREMAP_FIXED, target) == MAP_FAILED) {
    Unmap(target, new_size);
    return nullptr;
  }
  return target;
}
#endif

}  // namespace

size_t PageSize() noexcept {
  static const size_t page = [] {
    long answer = ::sysconf(_SC_PAGESIZE);
    return answer > 4096 ? static_cast<size_t>(answer) : size_t{4096};
  }();
  return page;
}

std::byte* MapPages(size_t size, size_t lead, size_t alignment) noexcept {
  std::byte* start = MapAligned(size, lead, alignment, kReadWrite);
  if (start != nullptr) mapping_count.fetch_add(1, std::memory_order_relaxed);
  return start;
}

void UnmapPages(std::byte* start, size_t size) noexcept {
  Unmap(start, size);
  mapping_count.fetch_sub(1, std::memory_order_relaxed);
  // Whoever maps and unmaps again and again shall not wander through the address space.
  uintptr_t lowest = Address(start);
  next_end.compare_exchange_strong(lowest, lowest + size, std::memory_order_relaxed);
}

std::byte* RemapPages(std::byte* start, size_t old_size, size_t new_size, size_t lead,
                      size_t alignment) noexcept {
#ifdef __linux__
  if (!Settings().portable) return Remap(start, old_size, new_size, lead, alignment);
#endif
  if (new_size > old_size) return nullptr;
  Unmap(start + new_size, old_size - new_size);
  return start;
}

bool DropPages(std::byte* start, size_t size) noexcept {
#ifdef __linux__
  if (!Settings().portable) return ::madvise(start, size, MADV_DONTNEED) == 0;
#endif
  return ::mmap(start, size, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
         MAP_FAILED;
}

void AdviseHugePages(std::byte* start, size_t size) noexcept {
#ifdef MADV_HUGEPAGE
  ::madvise(start, size, MADV_HUGEPAGE);
#else
  static_cast<void>(start), static_cast<void>(size);
#endif
}

std::optional<bool> IsResident(std::byte* address) noexcept {
#ifdef __linux__
  if (!Settings().portable) {
    unsigned char resident = 1;
    auto* page = reinterpret_cast<void*>(AlignDown(Address(address), PageSize()));
    if (::mincore(page, PageSize(), &resident) == 0) return (resident & 1) != 0;
  }
#else
  static_cast<void>(address);
#endif
  return std::nullopt;
}

size_t MappingCount() noexcept { return mapping_count.load(std::memory_order_relaxed); }

}  // namespace hurray
