#include "core/error.h"

namespace hurray {

std::string Printable(std::string_view message) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(message.size());
  for (char character : message) {
    auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7F) {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 0xF]};
    } else {
      out += character;
    }
  }
  return out;
}

void ThrowInvalidDescriptor(const std::string& message) {
  throw Error(ErrorCode::kInvalidDescriptor, message);
}

}  // namespace hurray
