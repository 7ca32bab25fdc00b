// Where long work can be watched and stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace hurray {

// Long work reports to it every few MiB and whenever a signal interrupts a system call. What the
// function throws ends the work, which then leaves nothing behind. One thread at a time.
class Checkpoint {
 public:
  using Function = std::function<void(const Checkpoint&)>;

  Checkpoint() = default;
  explicit Checkpoint(Function function) : function_(std::move(function)) {}

  uint64_t bytes_done() const noexcept {
    return total_ != 0 && done_ > total_ ? total_ : done_;  // what was read besides counts too
  }
  // Of the whole work; 0 while that is not known.
  uint64_t bytes_total() const noexcept { return total_; }
  // The present report is about a signal, and the call is tried again once it returns.
  bool is_interrupted() const noexcept { return interrupted_; }

  void SetTotal(uint64_t bytes) noexcept { total_ = bytes; }
  void Advance(uint64_t bytes) {
    done_ += bytes;
    if (done_ - reported_ >= kInterval) Report();
  }
  // A system call returned early because of a signal.
  void Interrupt() {
    interrupted_ = true;
    Report();
    interrupted_ = false;
  }
  // All is done: the last report says so.
  void Finish() {
    done_ = total_;
    Report();
  }

  // Work is best cut into pieces of this many bytes.
  static constexpr uint64_t kInterval = uint64_t{8} << 20;

 private:
  void Report() {
    reported_ = done_;
    if (function_) function_(*this);
  }

  Function function_;
  uint64_t total_ = 0;
  uint64_t done_ = 0;
  uint64_t reported_ = 0;
  bool interrupted_ = false;
};

}  // namespace hurray
