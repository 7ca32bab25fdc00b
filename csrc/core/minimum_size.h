// What a layout can tell about the least size of one of its buffers.
#pragma once

#include <cstdint>
#include <optional>

namespace hurray {

struct MinimumSize {
  enum class Kind : uint8_t {
    kBytes,     // at least `bytes`
    kUnknown,   // the descriptor alone cannot tell
    kHopeless,  // no buffer is large enough; `reason` completes "buffer 0 (data): …"
  };

  static constexpr MinimumSize Bytes(uint64_t bytes) noexcept {
    return {Kind::kBytes, bytes, nullptr};
  }
  static constexpr MinimumSize Unknown() noexcept { return {Kind::kUnknown, 0, nullptr}; }
  static constexpr MinimumSize Hopeless(const char* reason) noexcept {
    return {Kind::kHopeless, 0, reason};
  }
  // Bytes, or hopeless where the computation overflowed.
  static constexpr MinimumSize FromChecked(std::optional<uint64_t> bytes) noexcept {
    return bytes ? Bytes(*bytes) : Hopeless("the bytes it needs exceed 64 bits");
  }

  Kind kind;
  uint64_t bytes;
  const char* reason;
};

}  // namespace hurray
