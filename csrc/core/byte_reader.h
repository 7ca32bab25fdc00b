// Reads little-endian fields from bytes that nobody has checked yet.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/error.h"

namespace hurray {

// A cursor over `bytes`. Every read names the field it is for, so that the error for a short
// input can tell which one is missing; the error's code is chosen by whoever opens the reader.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes,
                      ErrorCode code = ErrorCode::kInvalidDescriptor) noexcept
      : bytes_(bytes), code_(code) {}

  size_t position() const noexcept { return position_; }
  size_t remaining() const noexcept { return bytes_.size() - position_; }
  ErrorCode code() const noexcept { return code_; }

  uint8_t ReadU8(std::string_view field) { return Read<uint8_t>(field); }
  uint16_t ReadU16(std::string_view field) { return Read<uint16_t>(field); }
  uint32_t ReadU32(std::string_view field) { return Read<uint32_t>(field); }
  uint64_t ReadU64(std::string_view field) { return Read<uint64_t>(field); }
  int64_t ReadI64(std::string_view field) { return Read<int64_t>(field); }
  int32_t ReadI32(std::string_view field) { return Read<int32_t>(field); }
  float ReadF32(std::string_view field) { return std::bit_cast<float>(ReadU32(field)); }
  double ReadF64(std::string_view field) { return std::bit_cast<double>(ReadU64(field)); }

  // The next `count` bytes, in place.
  std::span<const uint8_t> ReadBytes(uint64_t count, std::string_view field) {
    if (count > remaining()) ThrowShort(count, field);
    auto piece = bytes_.subspan(position_, static_cast<size_t>(count));
    position_ += static_cast<size_t>(count);
    return piece;
  }

  // Fills `out` with 8-byte numbers; all of them must be there before any is read.
  template <typename T>
  void ReadNumbers(std::span<T> out, std::string_view field) {
    auto piece = ReadBytes(uint64_t{out.size()} * sizeof(T), field);
    if constexpr (std::endian::native == std::endian::little) {
      if (!piece.empty()) std::memcpy(out.data(), piece.data(), piece.size());
    } else {
      for (size_t i = 0; i < out.size(); ++i) out[i] = Load<T>(piece.data() + i * sizeof(T));
    }
  }

  // Reads `count` reserved bytes and throws if one of them is not zero.
  void ReadReserved(size_t count, std::string_view field);

  // The number at `at`, which needs no alignment.
  template <typename T>
  static T Load(const uint8_t* at) noexcept {
    std::make_unsigned_t<T> value = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&value, at, sizeof(T));
    } else {
      for (size_t i = sizeof(T); i-- > 0;) {
        value = static_cast<std::make_unsigned_t<T>>((value << (sizeof(T) > 1 ? 8 : 0)) | at[i]);
      }
    }
    return static_cast<T>(value);
  }

 private:
  template <typename T>
  T Read(std::string_view field) {
    if (sizeof(T) > remaining()) ThrowShort(sizeof(T), field);
    T value = Load<T>(bytes_.data() + position_);
    position_ += sizeof(T);
    return value;
  }
  [[noreturn]] void ThrowShort(uint64_t wanted, std::string_view field) const;

  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
  ErrorCode code_;
};

}  // namespace hurray
