// CRC-32C (Castagnoli), the checksum of a file's index. Format: section 10.5.
#pragma once

#include <cstdint>
#include <span>

namespace hurray {

// Of `bytes` that follow others whose checksum is `before`.
uint32_t Crc32c(std::span<const uint8_t> bytes, uint32_t before = 0) noexcept;

// The same by tables alone, which every machine can do. For tests.
uint32_t Crc32cPortable(std::span<const uint8_t> bytes, uint32_t before = 0) noexcept;

}  // namespace hurray
