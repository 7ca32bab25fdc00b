// Joins values into one message. Numbers print in decimal, text as it is.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace hurray {

namespace internal {

template <typename T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

template <typename T>
void AppendPiece(std::string& out, const T& piece) {
  if constexpr (Number<T>) {
    std::array<char, 64> text;
    auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), piece);
    static_cast<void>(error);  // 64 characters hold every number
    out.append(text.data(), end);
  } else if constexpr (std::same_as<T, char>) {
    out.push_back(piece);
  } else if constexpr (std::same_as<T, bool>) {
    out.append(piece ? "true" : "false");
  } else {
    out.append(std::string_view(piece));
  }
}

}  // namespace internal

template <typename... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string out;
  (internal::AppendPiece(out, pieces), ...);
  return out;
}

// "0x0C", for the one-byte tags of the format.
inline std::string HexByte(unsigned value) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return StrCat("0x", kDigits[(value >> 4) & 0xFu], kDigits[value & 0xFu]);
}

// "[2, 3]", for shapes and strides in messages.
template <typename T>
std::string JoinInBrackets(std::span<const T> values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ", ";
    internal::AppendPiece(out, values[i]);
  }
  return out += "]";
}

}  // namespace hurray
