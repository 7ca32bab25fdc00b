// Tells AddressSanitizer which bytes of our own memory nobody may touch. Empty without it.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define HURRAY_POISONS_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HURRAY_POISONS_MEMORY 1
#endif
#endif

#ifdef HURRAY_POISONS_MEMORY
#include <sanitizer/asan_interface.h>
#endif

namespace hurray {

inline void PoisonMemory([[maybe_unused]] void* start, [[maybe_unused]] size_t size) noexcept {
#ifdef HURRAY_POISONS_MEMORY
  ASAN_POISON_MEMORY_REGION(start, size);
#endif
}

inline void UnpoisonMemory([[maybe_unused]] void* start, [[maybe_unused]] size_t size) noexcept {
#ifdef HURRAY_POISONS_MEMORY
  ASAN_UNPOISON_MEMORY_REGION(start, size);
#endif
}

}  // namespace hurray
