#include "core/metadata.h"

#include <array>
#include <bit>
#include <string_view>
#include <type_traits>
#include <unordered_set>

#include "core/byte_reader.h"
#include "core/str_cat.h"
#include "core/utf8.h"

namespace hurray {

namespace {

constexpr size_t kScalarKinds = 6;
constexpr uint8_t kArrayTag = 7;
static_assert(std::variant_size_v<MetadataValue> == 2 * kScalarKinds);

[[noreturn]] void Fail(const std::string& message) { throw Error(ErrorCode::kFile, message); }

// ---- reading

// What one scalar takes at least, so that a count can be compared with the bytes that are left.
template <typename T>
constexpr size_t kMinimumSize = std::is_same_v<T, bool>   ? 1
                                : std::is_arithmetic_v<T> ? 8
                                                          : 4;

template <typename T>
T ReadScalar(ByteReader& in) {
  if constexpr (std::is_same_v<T, std::string>) {
    auto bytes = in.ReadBytes(in.ReadU32("metadata string length"), "metadata string");
    if (!IsValidUtf8(bytes)) Fail("metadata: a string is not UTF-8");
    return std::string(AsText(bytes));
  } else if constexpr (std::is_same_v<T, Blob>) {
    auto bytes = in.ReadBytes(in.ReadU32("metadata bytes length"), "metadata bytes");
    return Blob(bytes.begin(), bytes.end());
  } else if constexpr (std::is_same_v<T, bool>) {
    uint8_t byte = in.ReadU8("metadata bool");
    if (byte > 1) Fail(StrCat("metadata: a bool is ", byte, ", it must be 0 or 1"));
    return byte != 0;
  } else {
    return std::bit_cast<T>(in.ReadU64("metadata number"));
  }
}

template <typename T>
std::vector<T> ReadArray(ByteReader& in) {
  uint32_t count = in.ReadU32("metadata array count");
  if (count > in.remaining() / kMinimumSize<T>) {
    Fail(StrCat("metadata: an array claims ", count, " elements of at least ", kMinimumSize<T>,
                " bytes, ", in.remaining(), " bytes are left"));
  }
  std::vector<T> values;
  values.reserve(count);
  for (uint32_t i = 0; i < count; ++i) values.push_back(ReadScalar<T>(in));
  return values;
}

using ReadValue = MetadataValue (*)(ByteReader&);

// One row per alternative of MetadataValue.
constexpr auto kReaders = []<size_t... I>(std::index_sequence<I...>) {
  return std::array<ReadValue, sizeof...(I)>{[](ByteReader& in) -> MetadataValue {
    using T = std::variant_alternative_t<I, MetadataValue>;
    if constexpr (I < kScalarKinds) {
      return MetadataValue(std::in_place_index<I>, ReadScalar<T>(in));
    } else {
      return MetadataValue(std::in_place_index<I>, ReadArray<typename T::value_type>(in));
    }
  }...};
}(std::make_index_sequence<std::variant_size_v<MetadataValue>>());

MetadataValue ReadTagged(ByteReader& in) {
  uint8_t tag = in.ReadU8("metadata tag");
  size_t kind = tag;
  if (tag == kArrayTag) {
    uint8_t element = in.ReadU8("metadata element tag");
    if (element < 1 || element > kScalarKinds) {
      Fail(StrCat("metadata: an array's element tag is ", HexByte(element),
                  ", it must be 0x01 to 0x06"));
    }
    kind = kScalarKinds + element;
  } else if (tag < 1 || tag > kScalarKinds) {
    Fail(StrCat("metadata: a tag is ", HexByte(tag), ", it must be 0x01 to 0x07"));
  }
  return kReaders[kind - 1](in);
}

// ---- writing

class Appender {
 public:
  template <typename T>
  void Number(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) out_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void Bytes(std::span<const uint8_t> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  void Count(size_t count) {
    if (count > UINT32_MAX) {
      Fail(StrCat("metadata: a value has ", count,
                  " bytes or elements, at most 4294967295 are "
                  "allowed"));
    }
    Number(static_cast<uint32_t>(count));
  }

  template <typename T>
  void Scalar(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (!IsValidUtf8(AsBytes(value))) Fail("metadata: a string is not UTF-8");
      Count(value.size());
      Bytes(AsBytes(value));
    } else if constexpr (std::is_same_v<T, Blob>) {
      Count(value.size());
      Bytes(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      Number(uint8_t{value});
    } else {
      Number(std::bit_cast<uint64_t>(value));
    }
  }

  void Value(const MetadataValue& value) {
    size_t kind = value.index() + 1;
    if (kind <= kScalarKinds) {
      Number(static_cast<uint8_t>(kind));
    } else {
      Number(kArrayTag);
      Number(static_cast<uint8_t>(kind - kScalarKinds));
    }
    std::visit([&](const auto& v) { Any(v); }, value);
  }

  std::vector<uint8_t> Take() { return std::move(out_); }

 private:
  template <typename T>
  void Any(const T& value) {
    Scalar(value);
  }
  template <typename T>
    requires(!std::is_same_v<std::vector<T>, Blob>)
  void Any(const std::vector<T>& values) {
    if (values.empty()) Fail("metadata: an array is empty, which has no element type");
    Count(values.size());
    for (const T& value : values) Scalar<T>(value);
  }

  std::vector<uint8_t> out_;
};

}  // namespace

void CheckName(std::string_view name, std::string_view what) {
  if (name.empty()) Fail(StrCat("the ", what, " is empty"));
  if (name.size() > kMaxNameLength) {
    Fail(StrCat("the ", what, " has ", name.size(), " bytes of UTF-8, at most ", kMaxNameLength,
                " are allowed"));
  }
  if (!IsValidUtf8(AsBytes(name))) Fail(StrCat("the ", what, " is not UTF-8"));
}

Metadata DecodeMetadata(std::span<const uint8_t> section) {
  constexpr size_t kLeastEntry = 5;  // key length, one byte of key, tag, a bool
  ByteReader in(section, ErrorCode::kFile);
  uint32_t count = in.ReadU32("metadata count");
  if (count > in.remaining() / kLeastEntry) {
    Fail(StrCat("metadata: count is ", count, ", the section's ", section.size(),
                " bytes hold at most ", in.remaining() / kLeastEntry, " entries"));
  }
  Metadata metadata;
  metadata.reserve(count);
  std::unordered_set<std::string_view> keys;
  keys.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    auto key = AsText(in.ReadBytes(in.ReadU16("metadata key length"), "metadata key"));
    CheckName(key, "metadata key");
    if (!keys.insert(key).second) Fail(StrCat("metadata: the key '", key, "' comes twice"));
    metadata.emplace_back(key, ReadTagged(in));
  }
  if (in.remaining() != 0) {
    Fail(StrCat("metadata: ", in.remaining(), " bytes are left after the last entry"));
  }
  return metadata;
}

std::vector<uint8_t> EncodeMetadata(const Metadata& metadata) {
  Appender out;
  if (metadata.empty()) return out.Take();
  out.Count(metadata.size());
  std::unordered_set<std::string_view> keys;
  for (const auto& [key, value] : metadata) {
    CheckName(key, "metadata key");
    if (!keys.insert(key).second) Fail(StrCat("metadata: the key '", key, "' comes twice"));
    out.Number(static_cast<uint16_t>(key.size()));
    out.Bytes(AsBytes(key));
    out.Value(value);
  }
  std::vector<uint8_t> section = out.Take();
  if (section.size() > UINT32_MAX) {
    Fail(StrCat("metadata: the section has ", section.size(),
                " bytes, at most 4294967295 are allowed"));
  }
  return section;
}

}  // namespace hurray
