// A sequence of plain numbers that keeps up to N of them inside itself. Shapes, strides and
// buffer tables are nearly always short; this keeps the common descriptor free of allocations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace hurray {

// Not a growing container: its length is set as a whole. Moving never throws.
template <typename T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  SmallVector() noexcept : size_(0) {}
  explicit SmallVector(size_t size) : size_(static_cast<uint32_t>(size)) {
    if (size > N) {
      heap_ = new T[size]();
    } else {
      std::fill_n(inline_, N, T{});
    }
  }
  SmallVector(std::span<const T> values) : SmallVector(values.data(), values.size()) {}
  SmallVector(std::initializer_list<T> values) : SmallVector(values.begin(), values.size()) {}
  SmallVector(const SmallVector& other) : SmallVector(other.data(), other.size()) {}
  SmallVector(SmallVector&& other) noexcept : size_(other.size_) {
    if (size_ > N) {
      heap_ = std::exchange(other.heap_, nullptr);
      other.size_ = 0;
    } else {
      CopyInline(other.inline_, size_);
    }
  }
  SmallVector& operator=(SmallVector other) noexcept {
    Release();
    size_ = other.size_;
    if (size_ > N) {
      heap_ = std::exchange(other.heap_, nullptr);
      other.size_ = 0;
    } else {
      CopyInline(other.inline_, size_);
    }
    return *this;
  }
  ~SmallVector() { Release(); }

  // Makes it `size` values long, which the caller then writes: their old values are lost.
  std::span<T> Overwrite(size_t size) {
    if (size > N || size_ > N) *this = SmallVector(size);
    size_ = static_cast<uint32_t>(size);
    return {data(), size};
  }

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return size_ > N ? heap_ : inline_; }
  const T* data() const noexcept { return size_ > N ? heap_ : inline_; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  T& operator[](size_t i) noexcept { return data()[i]; }
  const T& operator[](size_t i) const noexcept { return data()[i]; }

  friend bool operator==(const SmallVector& a, const SmallVector& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  SmallVector(const T* values, size_t size) : size_(static_cast<uint32_t>(size)) {
    if (size > N) heap_ = new T[size];
    std::copy_n(values, size, data());
  }
  void CopyInline(const T* values, size_t count) noexcept { std::copy_n(values, count, inline_); }
  void Release() noexcept {
    if (size_ > N) delete[] heap_;
  }

  uint32_t size_;
  union {
    T inline_[N];
    T* heap_;
  };
};

}  // namespace hurray
