// The typed key-value entries of a file. Format: section 10.3.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hurray {

using Blob = std::vector<uint8_t>;

// The scalars in the order of their tags (1 to 6), then an array of each, in the same order.
using MetadataValue =
    std::variant<std::string, int64_t, uint64_t, double, bool, Blob, std::vector<std::string>,
                 std::vector<int64_t>, std::vector<uint64_t>, std::vector<double>,
                 std::vector<bool>, std::vector<Blob>>;

using MetadataEntry = std::pair<std::string, MetadataValue>;
using Metadata = std::vector<MetadataEntry>;  // in file order

inline constexpr size_t kMaxNameLength = 65535;  // bytes of a metadata key or tensor name

// Throws kFile unless `name` has 1 to 65535 bytes of UTF-8. `what` completes "the … is empty".
void CheckName(std::string_view name, std::string_view what);

// Throws kFile for anything malformed. Allocates no more than a small multiple of `section`.
Metadata DecodeMetadata(std::span<const uint8_t> section);

// The exact inverse; nothing for no entries. Throws kFile for a key that is not allowed or comes
// twice, text that is no UTF-8, an empty array, and what 32-bit counts cannot hold.
std::vector<uint8_t> EncodeMetadata(const Metadata& metadata);

}  // namespace hurray
