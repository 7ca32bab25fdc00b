#include "io/name_table.h"

#include <sys/random.h>

#include <bit>
#include <chrono>
#include <cstring>

namespace hurray {

namespace {

struct Key {
  uint64_t a, b;
};

Key RandomKey() noexcept {
  Key key;
  if (::getrandom(&key, sizeof(key), GRND_NONBLOCK) != sizeof(key)) {
    // So early after the system's start that it has no secrets yet.
    key.a = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    key.b = reinterpret_cast<uintptr_t>(&key);
  }
  return key;
}

// Both halves of the product, so that every bit of it depends on every bit of both factors.
uint64_t Fold(uint64_t a, uint64_t b) noexcept {
  auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t Load(const char* at, size_t size) noexcept {
  uint64_t word = 0;
  std::memcpy(&word, at, size);
  return word;
}

}  // namespace

NameTable::NameTable(size_t capacity)
    : slots_(std::bit_ceil(2 * capacity + 2)), mask_(slots_.size() - 1) {}

uint32_t NameTable::Hash(std::string_view name) noexcept {
  static const Key key = RandomKey();
  uint64_t state = key.a ^ name.size();
  const char* at = name.data();
  size_t left = name.size();
  for (; left > 8; at += 8, left -= 8) state = Fold(state ^ Load(at, 8), key.b | 1);
  state = Fold(state ^ Load(at, left), key.b | 1);
  return static_cast<uint32_t>(Fold(state, key.a | 1));
}

}  // namespace hurray
