#include "core/utf8.h"

#include <cstddef>
#include <cstring>

namespace hurray {

namespace {

constexpr uint64_t kHighBits = 0x8080808080808080;

bool IsContinuation(uint8_t byte) noexcept { return (byte & 0xC0u) == 0x80; }

// Length of the sequence at the front of `bytes`, which starts with a byte above 0x7F; 0 if it is
// not valid.
size_t SequenceLength(std::span<const uint8_t> bytes) noexcept {
  uint8_t lead = bytes[0];
  size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || bytes.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(bytes[i])) return 0;
  }
  // The second byte excludes longer forms than needed, surrogates and what lies past U+10FFFF.
  uint8_t second = bytes[1];
  if (lead == 0xE0 && second < 0xA0) return 0;
  if (lead == 0xED && second > 0x9F) return 0;
  if (lead == 0xF0 && second < 0x90) return 0;
  if (lead == 0xF4 && second > 0x8F) return 0;
  return length;
}

}  // namespace

bool IsValidUtf8(std::span<const uint8_t> bytes) noexcept {
  size_t at = 0;
  while (at < bytes.size()) {
    if (bytes.size() - at >= sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + at, sizeof(word));
      if ((word & kHighBits) == 0) {
        at += sizeof(word);
        continue;
      }
    }
    if (bytes[at] < 0x80) {
      ++at;
      continue;
    }
    size_t length = SequenceLength(bytes.subspan(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

}  // namespace hurray
