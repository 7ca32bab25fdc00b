// What the environment says about the allocator.
#pragma once

#include <cstddef>

namespace hurray {

struct AllocatorSettings {
  // How many bytes of large blocks that nobody uses are kept for those who come, an eighth as many
  // of middle ones, and a quarter as many of small ones. From HURRAY_ALLOCATOR_CACHE_BYTES; without
  // it 256 MiB, or 1/16 of the memory that this process may have where that is less. 0: none are
  // kept but the small ones that threads have in their lists.
  size_t cache_bytes;
  // Large blocks ask for huge pages. Off with HURRAY_ALLOCATOR_HUGE_PAGES=0.
  bool huge_pages;
  // Only what POSIX has: no huge pages, no moving of pages, no look at which pages are in use. On
  // with HURRAY_ALLOCATOR_PORTABLE=1 (for tests), and wherever the system is not Linux.
  bool portable;

  static AllocatorSettings FromEnvironment() noexcept;
};

// Read from the environment on first use.
const AllocatorSettings& Settings() noexcept;

// REQUIRES: no other thread uses the allocator.
void SetSettingsForTesting(const AllocatorSettings& settings) noexcept;

}  // namespace hurray
