#include "io/crc32c.h"

#include <array>
#include <cstddef>

#include "core/byte_reader.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hurray {

namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // reflected, as are all values here

constexpr uint32_t TimesX(uint32_t value) noexcept {
  return (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
}

// kTables[k][b]: the checksum's change by byte b with k zero bytes behind it.
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = TimesX(value);
    tables[0][byte] = value;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      uint32_t shorter = tables[k - 1][byte];
      tables[k][byte] = (shorter >> 8) ^ tables[0][shorter & 0xFFu];
    }
  }
  return tables;
}();

uint32_t UpdateByTables(uint32_t state, const uint8_t* at, size_t size) noexcept {
  for (; size >= 8; at += 8, size -= 8) {
    uint64_t word = ByteReader::Load<uint64_t>(at) ^ state;
    state = 0;
    for (size_t k = 0; k < 8; ++k) state ^= kTables[7 - k][(word >> (8 * k)) & 0xFFu];
  }
  for (; size > 0; ++at, --size) state = (state >> 8) ^ kTables[0][(state ^ *at) & 0xFFu];
  return state;
}

#if defined(__x86_64__)

// x to the power of `exponent`, modulo the polynomial.
constexpr uint32_t PowerOfX(uint32_t exponent) noexcept {
  uint32_t value = 0x80000000;
  for (uint32_t i = 0; i < exponent; ++i) value = TimesX(value);
  return value;
}

#define HURRAY_CRC_TARGET __attribute__((target("sse4.2,pclmul")))

// What `state` becomes by `kBytes` zero bytes: a product without carries, whose reduction the
// crc32 instruction does, adding a factor of x^33 that `kFactor` takes away beforehand.
template <uint32_t kBytes>
HURRAY_CRC_TARGET inline uint32_t AppendZeros(uint32_t state) noexcept {
  constexpr uint32_t kFactor = PowerOfX(8 * kBytes - 33);
  __m128i product = _mm_clmulepi64_si128(_mm_cvtsi32_si128(static_cast<int>(state)),
                                         _mm_cvtsi32_si128(static_cast<int>(kFactor)), 0);
  return static_cast<uint32_t>(_mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(product))));
}

// Three pieces of kPiece bytes at a time: the instruction takes three cycles, but one can start
// in each.
template <uint32_t kPiece>
HURRAY_CRC_TARGET inline uint32_t UpdateThreefold(uint32_t state, const uint8_t*& at,
                                                  size_t& size) noexcept {
  for (; size >= 3 * kPiece; at += 3 * kPiece, size -= 3 * kPiece) {
    uint64_t a = state, b = 0, c = 0;
    for (uint32_t i = 0; i < kPiece; i += 8) {
      a = _mm_crc32_u64(a, ByteReader::Load<uint64_t>(at + i));
      b = _mm_crc32_u64(b, ByteReader::Load<uint64_t>(at + kPiece + i));
      c = _mm_crc32_u64(c, ByteReader::Load<uint64_t>(at + 2 * kPiece + i));
    }
    state = AppendZeros<2 * kPiece>(static_cast<uint32_t>(a)) ^
            AppendZeros<kPiece>(static_cast<uint32_t>(b)) ^ static_cast<uint32_t>(c);
  }
  return state;
}

HURRAY_CRC_TARGET uint32_t UpdateByInstruction(uint32_t state, const uint8_t* at,
                                               size_t size) noexcept {
  state = UpdateThreefold<2048>(state, at, size);
  state = UpdateThreefold<128>(state, at, size);
  uint64_t wide = state;
  for (; size >= 8; at += 8, size -= 8) wide = _mm_crc32_u64(wide, ByteReader::Load<uint64_t>(at));
  state = static_cast<uint32_t>(wide);
  for (; size > 0; ++at, --size) state = _mm_crc32_u8(state, *at);
  return state;
}

#endif

using Update = uint32_t (*)(uint32_t, const uint8_t*, size_t) noexcept;

Update BestUpdate() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul")) {
    return UpdateByInstruction;
  }
#endif
  return UpdateByTables;
}

}  // namespace

uint32_t Crc32c(std::span<const uint8_t> bytes, uint32_t before) noexcept {
  static const Update update = BestUpdate();
  return ~update(~before, bytes.data(), bytes.size());
}

uint32_t Crc32cPortable(std::span<const uint8_t> bytes, uint32_t before) noexcept {
  return ~UpdateByTables(~before, bytes.data(), bytes.size());
}

}  // namespace hurray
