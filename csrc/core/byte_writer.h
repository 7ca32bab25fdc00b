// Writes little-endian fields into a buffer whose size was computed beforehand.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace hurray {

// REQUIRES of every write: the bytes fit. Encoders compute their exact length first.
class ByteWriter {
 public:
  explicit ByteWriter(std::span<uint8_t> out) noexcept : out_(out) {}

  size_t position() const noexcept { return position_; }
  size_t remaining() const noexcept { return out_.size() - position_; }

  void WriteU8(uint8_t value) noexcept { Write(value); }
  void WriteU16(uint16_t value) noexcept { Write(value); }
  void WriteU32(uint32_t value) noexcept { Write(value); }
  void WriteU64(uint64_t value) noexcept { Write(value); }
  void WriteI32(int32_t value) noexcept { Write(value); }
  void WriteI64(int64_t value) noexcept { Write(value); }
  void WriteF32(float value) noexcept { Write(std::bit_cast<uint32_t>(value)); }
  void WriteF64(double value) noexcept { Write(std::bit_cast<uint64_t>(value)); }

  void WriteBytes(std::span<const uint8_t> bytes) noexcept {
    assert(bytes.size() <= remaining());
    if (!bytes.empty()) std::memcpy(out_.data() + position_, bytes.data(), bytes.size());
    position_ += bytes.size();
  }
  void WriteZeros(size_t count) noexcept {
    assert(count <= remaining());
    if (count != 0) std::memset(out_.data() + position_, 0, count);
    position_ += count;
  }
  template <typename T>
  void WriteNumbers(std::span<const T> values) noexcept {
    for (T value : values) Write(value);
  }

 private:
  template <typename T>
  void Write(T value) noexcept {
    assert(sizeof(T) <= remaining());
    auto bits = static_cast<std::make_unsigned_t<T>>(value);
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(out_.data() + position_, &bits, sizeof(T));
    } else {
      for (size_t i = 0; i < sizeof(T); ++i) {
        out_[position_ + i] = static_cast<uint8_t>(bits >> (8 * i));
      }
    }
    position_ += sizeof(T);
  }

  std::span<uint8_t> out_;
  size_t position_ = 0;
};

}  // namespace hurray
