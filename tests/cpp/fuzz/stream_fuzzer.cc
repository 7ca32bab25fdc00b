// Reads a stream to its end, writes what was read, and compares the bytes.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "io/stream_reader.h"
#include "io/stream_writer.h"
#include "round_trip.h"

namespace hurray {
namespace {

std::vector<Item> ReadAll(std::span<const uint8_t> input, Mode mode) {
  StreamLimits limits;
  limits.mode = mode;
  StreamReader reader(std::make_unique<MemoryStream>(Borrowed(input)), limits);
  Checkpoint checkpoint;
  std::vector<Item> items;
  try {
    while (auto item = reader.Next(checkpoint)) items.push_back(*std::move(item));
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kStream || error.code() == ErrorCode::kInvalidDescriptor,
            "a stream has another error");
  }
  // Whatever ended it, it stays at its end.
  Require(!reader.Next(checkpoint), "a stream goes on after its end");
  return items;
}

void Run(std::span<const uint8_t> input) {
  for (Mode mode : {Mode::kStrict, Mode::kPermissive}) {
    auto items = ReadAll(input, mode);
    StreamWriter writer(std::make_unique<MemorySink>(), false);
    Checkpoint checkpoint;
    for (const Item& item : items) writer.Write(item, checkpoint);
    auto written = static_cast<const MemorySink&>(writer.sink()).bytes();
    Require(written.size() <= input.size() && SameBytes(written, input.first(written.size())),
            "a stream is written differently");
    auto again = ReadAll(written, mode);
    Require(std::equal(again.begin(), again.end(), items.begin(), items.end(), SameItem),
            "a stream is read differently");
  }
}

}  // namespace
}  // namespace hurray

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hurray::Run({data, size});
  return 0;
}
