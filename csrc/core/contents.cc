#include "core/contents.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "core/str_cat.h"

namespace hurray {

namespace {

// ---- quantization schemes

constexpr std::array kIntegers{ElementTypes::kInt8,  ElementTypes::kInt16,  ElementTypes::kInt32,
                               ElementTypes::kUint8, ElementTypes::kUint16, ElementTypes::kUint32,
                               ElementTypes::kInt4,  ElementTypes::kUint4,  ElementTypes::kInt2,
                               ElementTypes::kUint2};
constexpr std::array kSmallIntegers{ElementTypes::kInt8, ElementTypes::kUint8,
                                    ElementTypes::kInt4, ElementTypes::kUint4,
                                    ElementTypes::kInt2, ElementTypes::kUint2};
constexpr std::array kNf4Types{ElementTypes::kUint4};
constexpr std::array kMxfpTypes{ElementTypes::kFloat8E4M3, ElementTypes::kFloat8E5M2,
                                ElementTypes::kFloat4E2M1, ElementTypes::kFloat6E2M3,
                                ElementTypes::kFloat6E3M2, ElementTypes::kInt8,
                                ElementTypes::kInt4};

// What a scheme allows and what its parameter buffers hold.
struct SchemeRules {
  std::string_view name;
  std::span<const ElementType> storage_types;
  ElementType scale_type = ElementTypes::kFloat32;
  bool scale_may_be_zero = false;  // but then it must not be negative
};

SchemeRules RulesOf(const PerTensorAffine&) { return {"per-tensor", kIntegers}; }
SchemeRules RulesOf(const PerChannelAffine&) { return {"per-channel", kIntegers}; }
SchemeRules RulesOf(const PerBlockAffine& scheme) {
  return {"per-block", kSmallIntegers, scheme.scale_type};
}
SchemeRules RulesOf(const Nf4&) {
  return {"NF4", kNf4Types, ElementTypes::kFloat32, /*scale_may_be_zero=*/true};
}
SchemeRules RulesOf(const Mxfp&) { return {"MXFP", kMxfpTypes, ElementTypes::kFloat8E8M0}; }

void CheckStorageType(ElementType dtype, const SchemeRules& rules) {
  if (std::ranges::find(rules.storage_types, dtype) != rules.storage_types.end()) return;
  std::string allowed;
  for (ElementType type : rules.storage_types) {
    allowed += StrCat(allowed.empty() ? "" : ", ", type.name());
  }
  ThrowInvalidDescriptor(StrCat("quantization: dtype is ", dtype.name(), ", a ", rules.name,
                                " scheme stores ", allowed));
}

// The extent of the axis that the parameters run along.
uint64_t CheckAxis(uint32_t axis, ShapeView shape) {
  if (axis >= shape.size()) {
    ThrowInvalidDescriptor(StrCat("quantization: axis is ", axis, ", the shape ", ShapeText(shape),
                                  " has rank ", shape.size()));
  }
  if (shape[axis] == kDynamicExtent) {
    ThrowInvalidDescriptor(StrCat("quantization: axis is ", axis,
                                  ", which is dynamic in the shape ", ShapeText(shape),
                                  ", its extent must be known"));
  }
  return shape[axis];
}

void CheckBlockSize(uint64_t block_size, uint32_t axis, uint64_t extent) {
  if (extent != 0 && block_size > extent) {
    ThrowInvalidDescriptor(StrCat("quantization: block_size is ", block_size,
                                  ", it must be at most ", extent, ", the extent of axis ", axis));
  }
}

void CheckWholeBlocks(uint64_t block_size, uint32_t axis, uint64_t extent) {
  if (extent == 0 || extent % block_size != 0) {
    ThrowInvalidDescriptor(StrCat("quantization: block_size is ", block_size,
                                  ", the extent of axis ", axis, ", ", extent,
                                  ", must be a positive multiple of it"));
  }
}

// How many parameters a scheme has.
struct ParameterCount {
  bool known;                     // false while an extent that it depends on is dynamic
  std::optional<uint64_t> count;  // nullopt beyond 64 bits
};

ParameterCount CountBlocks(ShapeView shape, uint32_t axis, uint64_t block_size) {
  if (HasDynamicExtent(shape)) return {false, std::nullopt};
  Shape blocks(shape);
  blocks[axis] = CeilDiv(blocks[axis], block_size);
  return {true, CheckedProduct({blocks.data(), blocks.size()})};
}

ParameterCount CountParameters(const PerChannelAffine& scheme, const TensorDescriptor& descriptor) {
  return {true, CheckAxis(scheme.axis, descriptor.shape())};
}

ParameterCount CountParameters(const PerBlockAffine& scheme, const TensorDescriptor& descriptor) {
  uint64_t extent = CheckAxis(scheme.axis, descriptor.shape());
  CheckBlockSize(scheme.block_size, scheme.axis, extent);
  if (const auto* paged = std::get_if<BlockPagedLayout>(&descriptor.layout())) {
    return {true, paged->SlotCount()};  // one for each token slot of the pool
  }
  return CountBlocks(descriptor.shape(), scheme.axis, scheme.block_size);
}

// Over pages these two are carried along but have no meaning, so no number of parameters either.
ParameterCount CountUnlessPaged(const TensorDescriptor& descriptor, uint32_t axis,
                                uint32_t block_size) {
  if (std::holds_alternative<BlockPagedLayout>(descriptor.layout())) return {false, std::nullopt};
  return CountBlocks(descriptor.shape(), axis, block_size);
}

ParameterCount CountParameters(const Nf4& scheme, const TensorDescriptor& descriptor) {
  uint64_t extent = CheckAxis(scheme.axis, descriptor.shape());
  CheckBlockSize(scheme.block_size, scheme.axis, extent);
  return CountUnlessPaged(descriptor, scheme.axis, scheme.block_size);
}

ParameterCount CountParameters(const Mxfp& scheme, const TensorDescriptor& descriptor) {
  uint64_t extent = CheckAxis(scheme.axis, descriptor.shape());
  CheckWholeBlocks(scheme.block_size, scheme.axis, extent);
  return CountUnlessPaged(descriptor, scheme.axis, scheme.block_size);
}

// ---- parameter buffers

float HalfToFloat(uint16_t bits) noexcept {
  int exponent = (bits >> 10) & 0x1F;
  int mantissa = bits & 0x3FF;
  float magnitude;
  if (exponent == 0x1F) {
    magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else {
    magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                              : std::ldexp(static_cast<float>(mantissa + 0x400), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

float LoadScale(const uint8_t* at, ElementType type) noexcept {
  if (type == ElementTypes::kFloat16) return HalfToFloat(ByteReader::Load<uint16_t>(at));
  if (type == ElementTypes::kBfloat16) {
    return std::bit_cast<float>(uint32_t{ByteReader::Load<uint16_t>(at)} << 16);
  }
  return std::bit_cast<float>(ByteReader::Load<uint32_t>(at));
}

[[noreturn]] void ThrowParameter(uint32_t buffer, std::string_view role, uint64_t position,
                                 const std::string& value, const std::string& rule) {
  ThrowInvalidDescriptor(StrCat("buffer ", buffer, " (", role, "), position ", position, ": ",
                                value, " must be ", rule));
}

void CheckScales(std::span<const uint8_t> bytes, uint32_t buffer, const SchemeRules& rules) {
  size_t width = rules.scale_type.bits() / 8;
  for (size_t i = 0; i < bytes.size() / width; ++i) {
    const uint8_t* at = bytes.data() + i * width;
    if (rules.scale_type == ElementTypes::kFloat8E8M0) {
      uint8_t scale = *at;
      if (scale == 0x00 || scale == 0xFF) {
        ThrowParameter(buffer, "scales", i, HexByte(scale), "from 0x01 to 0xFE");
      }
      continue;
    }
    float scale = LoadScale(at, rules.scale_type);
    if (rules.scale_may_be_zero && (!std::isfinite(scale) || scale < 0)) {
      ThrowParameter(buffer, "scales", i, StrCat(scale), "finite and not negative");
    }
    if (!rules.scale_may_be_zero && (!std::isfinite(scale) || scale == 0)) {
      ThrowParameter(buffer, "scales", i, StrCat(scale), "finite and not 0");
    }
  }
}

struct Range {
  int64_t low, high;
};

// The numbers that an integer type can hold.
Range RangeOf(ElementType type) noexcept {
  uint32_t bits = type.bits();
  if (type.info().is_signed) {
    return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  }
  return {0, (int64_t{1} << bits) - 1};
}

std::string RangeText(ElementType type) {
  Range range = RangeOf(type);
  return StrCat("from ", range.low, " to ", range.high, ", which ", type.name(), " can hold");
}

void CheckZeroPoints(std::span<const uint8_t> bytes, uint32_t buffer, ElementType dtype) {
  Range range = RangeOf(dtype);
  for (size_t i = 0; i < bytes.size() / 4; ++i) {
    int32_t zero_point = ByteReader::Load<int32_t>(bytes.data() + i * 4);
    if (zero_point < range.low || zero_point > range.high) {
      ThrowParameter(buffer, "zero points", i, StrCat(zero_point), RangeText(dtype));
    }
  }
}

// The first `size` bytes of a buffer whose declared size must be `size` exactly.
std::span<const uint8_t> ExactBytes(const TensorDescriptor& descriptor, BufferSpans buffers,
                                    uint32_t buffer, std::string_view role,
                                    std::optional<uint64_t> size, std::optional<uint64_t> count) {
  uint64_t found = descriptor.buffers()[buffer].byte_size;
  if (found == size && size <= buffers[buffer].size()) {
    return buffers[buffer].first(static_cast<size_t>(*size));
  }
  ThrowInvalidDescriptor(StrCat("buffer ", buffer, " (", role, ") has ", found,
                                " bytes, it must have ",
                                size ? StrCat("exactly ", *size, " for ", *count, " parameters")
                                     : std::string("more than 64 bits can count")));
}

void CheckParameters(const TensorDescriptor& descriptor, BufferSpans buffers,
                     const SchemeRules& rules, ParameterCount parameters) {
  if (!parameters.known) return;
  auto count = parameters.count;
  auto scale_bytes = CheckedMul(count, std::optional(uint64_t{rules.scale_type.bits() / 8}));
  auto zero_point_bytes = CheckedMul(count, std::optional(uint64_t{4}));
  const Quantization& quantization = *descriptor.quantization();
  uint32_t scales = *quantization.scale_buffer_index();
  std::optional<uint32_t> zero_points = quantization.zero_point_buffer_index();
  if (zero_points == scales) {
    // One buffer holds both, the zero points behind the scales.
    auto bytes = ExactBytes(descriptor, buffers, scales, "scales and zero points",
                            CheckedAdd(scale_bytes, zero_point_bytes), count);
    CheckScales(bytes.first(static_cast<size_t>(*scale_bytes)), scales, rules);
    CheckZeroPoints(bytes.subspan(static_cast<size_t>(*scale_bytes)), scales, descriptor.dtype());
    return;
  }
  CheckScales(ExactBytes(descriptor, buffers, scales, "scales", scale_bytes, count), scales, rules);
  if (!zero_points) return;
  CheckZeroPoints(
      ExactBytes(descriptor, buffers, *zero_points, "zero points", zero_point_bytes, count),
      *zero_points, descriptor.dtype());
}

void CheckQuantization(const TensorDescriptor& descriptor, BufferSpans buffers) {
  const QuantizationScheme& scheme = descriptor.quantization()->scheme;
  SchemeRules rules = std::visit([](const auto& kind) { return RulesOf(kind); }, scheme);
  CheckStorageType(descriptor.dtype(), rules);
  if (const auto* tensor = std::get_if<PerTensorAffine>(&scheme)) {
    Range range = RangeOf(descriptor.dtype());
    if (tensor->zero_point < range.low || tensor->zero_point > range.high) {
      ThrowInvalidDescriptor(StrCat("quantization: zero_point is ", tensor->zero_point,
                                    ", it must be ", RangeText(descriptor.dtype())));
    }
    return;
  }
  ParameterCount parameters = std::visit(
      [&]<typename Kind>(const Kind& kind) -> ParameterCount {
        if constexpr (std::is_same_v<Kind, PerTensorAffine>) {
          return {false, std::nullopt};  // its parameters are in the descriptor
        } else {
          return CountParameters(kind, descriptor);
        }
      },
      scheme);
  CheckParameters(descriptor, buffers, rules, parameters);
}

// ---- statistics

void CheckStatistics(const Statistics& statistics, const Layout& layout) {
  if (statistics.claims(Statistics::kNm) && statistics.nm_n > statistics.nm_m) {
    ThrowInvalidDescriptor(StrCat("statistics: nm_n is ", statistics.nm_n,
                                  ", it must be at most nm_m, which is ", statistics.nm_m));
  }
  if (!statistics.claims(Statistics::kNnz)) return;
  auto stored = std::visit(
      [](const auto& kind) -> std::optional<uint64_t> {
        if constexpr (requires { kind.nnz; }) return kind.nnz;
        return std::nullopt;
      },
      layout);
  if (stored && *stored != statistics.nnz) {
    ThrowInvalidDescriptor(StrCat("statistics: nnz is ", statistics.nnz, ", layout ",
                                  LayoutName(layout), " stores ", *stored, " elements"));
  }
}

}  // namespace

void CheckContents(const TensorDescriptor& descriptor, BufferSpans buffers) {
  Geometry geometry = descriptor.geometry();
  std::visit([&](const auto& kind) { kind.CheckContents(geometry, buffers); }, descriptor.layout());
  if (descriptor.statistics() != nullptr) {
    CheckStatistics(*descriptor.statistics(), descriptor.layout());
  }
  if (descriptor.quantization() != nullptr) CheckQuantization(descriptor, buffers);
}

}  // namespace hurray
