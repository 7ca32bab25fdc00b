// Finds names among many.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hurray {

// A hash table of names that somebody else keeps, numbered in the order they were added. The hash
// has a secret key: nobody can make up names that collide.
class NameTable {
 public:
  NameTable() = default;
  // Makes room for `capacity` names (below 2^32), at 16 to 32 bytes each.
  explicit NameTable(size_t capacity);

  // The number of the name that is equal and was added before, else nothing, and the name is
  // added under `number`. `name_of` gives the name of a number.
  template <typename NameOf>
  std::optional<uint32_t> Add(std::string_view name, uint32_t number, const NameOf& name_of) {
    uint32_t hash = Hash(name);
    size_t slot = hash & mask_;
    for (; slots_[slot].number != kEmpty; slot = (slot + 1) & mask_) {
      if (slots_[slot].hash == hash && name_of(slots_[slot].number) == name) {
        return slots_[slot].number;
      }
    }
    slots_[slot] = {hash, number};
    return std::nullopt;
  }

  template <typename NameOf>
  std::optional<uint32_t> Find(std::string_view name, const NameOf& name_of) const {
    if (slots_.empty()) return std::nullopt;
    uint32_t hash = Hash(name);
    for (size_t slot = hash & mask_; slots_[slot].number != kEmpty; slot = (slot + 1) & mask_) {
      if (slots_[slot].hash == hash && name_of(slots_[slot].number) == name) {
        return slots_[slot].number;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = kEmpty;
  };
  static uint32_t Hash(std::string_view name) noexcept;

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t mask_ = 0;
};

}  // namespace hurray
