// What the tests of the allocator share.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "storage/allocator.h"
#include "storage/allocator_settings.h"
#include "storage/large_blocks.h"
#include "storage/middle_blocks.h"

namespace hurray {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

inline constexpr size_t kMiB = size_t{1} << 20;

// A way in which the allocator may run.
struct Mode {
  const char* name;
  AllocatorSettings settings;
};
inline void PrintTo(const Mode& mode, std::ostream* out) { *out << mode.name; }
inline constexpr Mode kModes[] = {
    {"Standard", {.cache_bytes = 256 * kMiB, .huge_pages = true, .portable = false}},
    {"WithoutHugePages", {.cache_bytes = 256 * kMiB, .huge_pages = false, .portable = false}},
    {"Portable", {.cache_bytes = 256 * kMiB, .huge_pages = false, .portable = true}},
    {"WithoutCache", {.cache_bytes = 0, .huge_pages = true, .portable = false}},
};

// Puts the settings back, and begins and ends with nothing kept.
class SettingsForTest {
 public:
  explicit SettingsForTest(const AllocatorSettings& settings) : before_(Settings()) {
    TrimAllocator();
    SetSettingsForTesting(settings);
  }
  SettingsForTest(const SettingsForTest&) = delete;
  SettingsForTest& operator=(const SettingsForTest&) = delete;
  ~SettingsForTest() {
    TrimAllocator();
    SetSettingsForTesting(before_);
  }

 private:
  AllocatorSettings before_;
};

inline bool IsAligned(const void* block, size_t alignment) {
  return reinterpret_cast<uintptr_t>(block) % alignment == 0;
}

inline size_t GivenAlignment(size_t size) {
  return size >= kSmallestLarge ? kLargeBlockAlignment : kBlockAlignment;
}

// Bytes that have an address in this process, and those of them that have memory.
inline std::pair<size_t, size_t> ProcessBytes() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return {total * page, resident * page};
}
inline size_t AddressBytes() { return ProcessBytes().first; }
inline size_t ResidentBytes() { return ProcessBytes().second; }

inline bool SwitchedOn(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0;
}

}  // namespace hurray
