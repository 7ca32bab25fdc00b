#include "storage/allocator_settings.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace hurray {

namespace {

constexpr size_t kMostCached = size_t{256} << 20;
constexpr size_t kShareOfMemory = 16;

#ifdef __linux__
constexpr bool kLinux = true;
#else
constexpr bool kLinux = false;
#endif

// A whole number of bytes, and nothing behind it but blanks.
std::optional<size_t> ParseBytes(const char* text) noexcept {
  if (*text < '0' || *text > '9') return std::nullopt;
  char* end = nullptr;
  errno = 0;
  unsigned long long value = std::strtoull(text, &end, 10);
  if (errno != 0 || value > SIZE_MAX) return std::nullopt;
  while (*end == ' ' || *end == '\n') ++end;
  return *end == '\0' ? std::optional(static_cast<size_t>(value)) : std::nullopt;
}

std::optional<size_t> ReadBytes(const char* path) noexcept {
  int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char text[32] = {};
  ssize_t length = ::read(file, text, sizeof(text) - 1);
  ::close(file);
  return length > 0 ? ParseBytes(text) : std::nullopt;
}

// What this process may have at most: the machine's memory, less where the container or the
// process has a limit of its own.
size_t MemoryBytes() noexcept {
  long pages = ::sysconf(_SC_PHYS_PAGES);
  long page = ::sysconf(_SC_PAGESIZE);
  size_t bytes =
      pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : SIZE_MAX;
  if (kLinux) {
    for (const char* limit :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
      bytes = std::min(bytes, ReadBytes(limit).value_or(SIZE_MAX));
    }
  }
  rlimit addresses{};
  if (::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<size_t>(addresses.rlim_cur));
  }
  return bytes;
}

AllocatorSettings& MutableSettings() noexcept {
  static AllocatorSettings settings = AllocatorSettings::FromEnvironment();
  return settings;
}

}  // namespace

AllocatorSettings AllocatorSettings::FromEnvironment() noexcept {
  auto is = [](const char* variable, const char* value) {
    const char* text = std::getenv(variable);
    return text != nullptr && std::strcmp(text, value) == 0;
  };
  const char* cache = std::getenv("HURRAY_ALLOCATOR_CACHE_BYTES");
  std::optional<size_t> asked = cache != nullptr ? ParseBytes(cache) : std::nullopt;
  bool portable = !kLinux || is("HURRAY_ALLOCATOR_PORTABLE", "1");
  return {
      .cache_bytes = asked ? *asked : std::min(kMostCached, MemoryBytes() / kShareOfMemory),
      .huge_pages = !portable && !is("HURRAY_ALLOCATOR_HUGE_PAGES", "0"),
      .portable = portable,
  };
}

const AllocatorSettings& Settings() noexcept { return MutableSettings(); }

void SetSettingsForTesting(const AllocatorSettings& settings) noexcept {
  MutableSettings() = settings;
}

}  // namespace hurray
