#include "storage/zeroing.h"

#include <atomic>

namespace hurray {

namespace {

enum class Use { kUnknown, kTouched, kUntouched };

// As long as nothing is known: libc writes zeros to blocks up to that size.
constexpr size_t kWriteUpTo = size_t{32} << 20;
// A block that was zeroed by writing does not tell whether it is used. One in so many finds out.
constexpr unsigned kAskEvery = 16;

std::atomic<Use> last_use{Use::kUnknown};
std::atomic<unsigned> written{0};

}  // namespace

bool ZeroByWriting(size_t size) noexcept {
  Use use = last_use.load(std::memory_order_relaxed);
  if (use == Use::kUntouched || (use == Use::kUnknown && size > kWriteUpTo)) return false;
  return written.fetch_add(1, std::memory_order_relaxed) % kAskEvery != kAskEvery - 1;
}

void NoteUseOfZeroedBlock(bool touched) noexcept {
  last_use.store(touched ? Use::kTouched : Use::kUntouched, std::memory_order_relaxed);
}

void ForgetUseOfZeroedBlocksForTesting() noexcept {
  last_use.store(Use::kUnknown, std::memory_order_relaxed);
  written.store(0, std::memory_order_relaxed);
}

}  // namespace hurray
