// Bytes that end where readable memory ends, so that reading one too many crashes at once instead
// of finding whatever lies behind them.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

namespace hurray {

class GuardedBytes {
 public:
  // Room for up to `capacity` bytes.
  explicit GuardedBytes(size_t capacity) {
    auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    readable_ = (capacity + page - 1) / page * page;
    mapped_ = readable_ + page;
    void* memory =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    memory_ = static_cast<uint8_t*>(memory);
    if (mprotect(memory_ + readable_, page, PROT_NONE) != 0) {
      throw std::runtime_error("mprotect failed");
    }
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { munmap(memory_, mapped_); }

  // A copy of `bytes` that ends at the unreadable page; good until the next call.
  std::span<const uint8_t> Place(std::span<const uint8_t> bytes) {
    uint8_t* start = memory_ + readable_ - bytes.size();
    if (!bytes.empty()) std::memcpy(start, bytes.data(), bytes.size());
    return {start, bytes.size()};
  }

 private:
  uint8_t* memory_ = nullptr;
  size_t readable_ = 0;
  size_t mapped_ = 0;
};

// Calls `use` with each proper prefix of `bytes`, from the empty one on.
template <typename Use>
void ForEveryShorterInput(std::span<const uint8_t> bytes, Use use) {
  GuardedBytes guarded(bytes.size());
  for (size_t length = 0; length < bytes.size(); ++length) {
    SCOPED_TRACE(testing::Message() << "the first " << length << " of " << bytes.size());
    use(guarded.Place(bytes.first(length)));
  }
}

}  // namespace hurray
