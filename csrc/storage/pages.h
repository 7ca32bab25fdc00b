// Whole pages of memory from the system: zeroed, and not there until they are touched.
// All functions are safe to call from several threads on different pages.
#pragma once

#include <cstddef>
#include <optional>

namespace hurray {

// Of a page in bytes; a power of two, at least 4096.
size_t PageSize() noexcept;

// Maps `size` bytes so that the address `lead` bytes into them is a multiple of `alignment`.
// nullptr when there is no memory. REQUIRES: size and lead are whole pages, lead < size,
// alignment is a power of two, at least a page, at most 1 GiB.
std::byte* MapPages(size_t size, size_t lead, size_t alignment) noexcept;
void UnmapPages(std::byte* start, size_t size) noexcept;

// What MapPages gave, with another size and its contents, perhaps elsewhere; the bytes that are
// new read as zero. nullptr where that cannot be done without copying: then nothing has changed.
std::byte* RemapPages(std::byte* start, size_t old_size, size_t new_size, size_t lead,
                      size_t alignment) noexcept;

// Gives pages back but keeps their addresses: they read as zero from then on. False if the system
// refused; then their contents are as before.
bool DropPages(std::byte* start, size_t size) noexcept;

// Asks for huge pages wherever one fits.
void AdviseHugePages(std::byte* start, size_t size) noexcept;

// Whether the page at `address` has memory; nullopt where that cannot be known. A page that was
// swapped out has none.
std::optional<bool> IsResident(std::byte* address) noexcept;

// How many mappings there are, counting each MapPages and UnmapPages.
size_t MappingCount() noexcept;

}  // namespace hurray
