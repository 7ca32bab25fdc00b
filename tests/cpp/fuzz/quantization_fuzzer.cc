// Decodes a quantization section and encodes it again.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/quantization.h"
#include "round_trip.h"

namespace hurray {
namespace {

std::optional<Quantization> Decoded(std::span<const uint8_t> input) {
  try {
    return Quantization::Decode(input);
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kInvalidDescriptor, "a section has another error");
    return std::nullopt;
  }
}

void Run(std::span<const uint8_t> input) {
  auto quantization = Decoded(input);
  if (!quantization) return;
  std::vector<uint8_t> bytes(quantization->encoded_size());
  ByteWriter out(bytes);
  quantization->Encode(out);
  Require(out.remaining() == 0, "a section is shorter than its encoded size");
  Require(SameBytes(bytes, input), "a section is encoded differently");
  auto again = Decoded(bytes);
  Require(again && *again == *quantization, "a section is decoded differently");
  for (size_t buffers : {size_t{1}, size_t{3}, size_t{255}}) {
    try {
      quantization->CheckPlacement(buffers, 1);
      Require(quantization->scale_buffer_index().value_or(0) < buffers &&
                  quantization->zero_point_buffer_index().value_or(0) < buffers,
              "a parameter buffer does not exist");
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace hurray

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hurray::Run({data, size});
  return 0;
}
