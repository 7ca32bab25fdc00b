// UTF-8, as names, keys and strings in files must be.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hurray {

// Shortest forms only, no surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::span<const uint8_t> bytes) noexcept;

// The bytes of `text`, and the text in `bytes`.
inline std::span<const uint8_t> AsBytes(std::string_view text) noexcept {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view AsText(std::span<const uint8_t> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace hurray
