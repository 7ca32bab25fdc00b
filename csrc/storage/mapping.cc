#include "storage/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "core/error.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

// Addresses of this process, given back when it dies, and a count of who uses them.
struct Mapping {
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (size != 0) ::munmap(start, size);
  }
  // Gives back what lies outside of [first, first + bytes).
  void ShrinkTo(uint8_t* first, size_t bytes) noexcept {
    auto before = static_cast<size_t>(first - start);
    size_t after = size - before - bytes;
    if (before != 0) ::munmap(start, before);
    if (after != 0) ::munmap(first + bytes, after);
    start = first;
    size = bytes;
  }

  uint8_t* start = nullptr;
  size_t size = 0;
  std::atomic<size_t> handles{1};
};

constexpr OwnerOps kMapping{
    [](void* owner) noexcept {
      static_cast<Mapping*>(owner)->handles.fetch_add(1, std::memory_order_relaxed);
    },
    [](void* owner) noexcept {
      auto* mapping = static_cast<Mapping*>(owner);
      if (mapping->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) delete mapping;
    },
    true,
};

void* Map(void* where, size_t size, int protection, int flags, int fd) {
  void* start = ::mmap(where, size, protection, flags | MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  if (start == MAP_FAILED) {
    int number = errno;
    throw SystemError(number, StrCat("cannot map the file: ", std::strerror(number)), "");
  }
  return start;
}

}  // namespace

Buffer MapFilePrivately(int fd, size_t size, size_t alignment) {
  constexpr int kReadWrite = PROT_READ | PROT_WRITE;
  auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  auto mapping = std::make_unique<Mapping>();
  if (alignment <= page) {
    mapping->start = static_cast<uint8_t*>(Map(nullptr, size, kReadWrite, 0, fd));
    mapping->size = size;
  } else {
    // The system promises whole pages only: take more addresses than needed, and the best of them.
    size_t whole = (size + page - 1) & ~(page - 1);
    size_t room = whole > SIZE_MAX - alignment ? SIZE_MAX : whole + alignment;
    mapping->start = static_cast<uint8_t*>(Map(nullptr, room, PROT_NONE, MAP_ANONYMOUS, -1));
    mapping->size = room;
    auto address = reinterpret_cast<uintptr_t>(mapping->start);
    size_t skip = (alignment - address % alignment) % alignment;
    mapping->ShrinkTo(mapping->start + skip, whole);
    Map(mapping->start, size, kReadWrite, MAP_FIXED, fd);
  }
  Buffer buffer(mapping->start, size, true, mapping.get(), &kMapping);
  static_cast<void>(mapping.release());  // the buffer has it now
  return buffer;
}

}  // namespace hurray
