#include "core/quantization.h"

#include <cmath>
#include <type_traits>

#include "core/checked_math.h"
#include "core/shape.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

constexpr uint8_t kSchemeVersion = 1;
constexpr uint16_t kSymmetric = 1;

void CheckAxis(uint32_t axis) {
  if (axis >= kMaxRank) {
    ThrowInvalidDescriptor(StrCat("quantization: axis is ", axis, ", it must be below ", kMaxRank));
  }
}

void CheckBufferIndex(uint32_t index, std::string_view field) {
  if (index == kNoBufferIndex) {
    ThrowInvalidDescriptor(
        StrCat("quantization: ", field, " is 4294967295, which stands for no buffer"));
  }
}

void CheckBlockSize(uint32_t block_size, uint32_t least, uint32_t most) {
  if (!IsPowerOfTwo(block_size) || block_size < least || block_size > most) {
    ThrowInvalidDescriptor(StrCat("quantization: block_size is ", block_size,
                                  ", it must be a power of two from ", least, " to ", most));
  }
}

constexpr uint32_t kLargestPowerOfTwo = 1u << 31;

// Zero point index on the wire, with the flag that says there is none. Into what its reader has
// emptied.
void ReadZeroPointIndex(ByteReader& in, bool symmetric, std::optional<uint32_t>& out) {
  uint32_t index = in.ReadU32("zero_point_buffer_index");
  if (!symmetric) {
    CheckBufferIndex(index, "zero_point_buffer_index");
    out = index;
  } else if (index != kNoBufferIndex) {
    ThrowInvalidDescriptor(StrCat("quantization: zero_point_buffer_index is ", index,
                                  ", a symmetric scheme needs 4294967295"));
  }
}

ElementType ReadScaleType(ByteReader& in) {
  uint8_t tag = in.ReadU8("scale_type");
  if (tag < 1 || tag > 3) {
    ThrowInvalidDescriptor(StrCat("quantization: scale_type is ", HexByte(tag),
                                  ", it must be float16, bfloat16 or float32"));
  }
  return ElementType::FromTag(tag);
}

// Each reads into a scheme that is already where it stays: small values that are returned are put
// together byte by byte.
void Read(ByteReader& in, bool, PerTensorAffine& scheme) {
  scheme.scale = in.ReadF32("scale");
  scheme.zero_point = in.ReadI32("zero_point");
  in.ReadReserved(4, "quantization");
}

void Read(ByteReader& in, bool symmetric, PerChannelAffine& scheme) {
  scheme.axis = in.ReadU32("axis");
  scheme.scale_buffer_index = in.ReadU32("scale_buffer_index");
  ReadZeroPointIndex(in, symmetric, scheme.zero_point_buffer_index);
  if (ElementType type = ReadScaleType(in); type != ElementTypes::kFloat32) {
    ThrowInvalidDescriptor(StrCat("quantization: scale_type is ", type.name(),
                                  ", a per-channel scheme needs float32"));
  }
  in.ReadReserved(3, "quantization");
}

void Read(ByteReader& in, bool symmetric, PerBlockAffine& scheme) {
  scheme.axis = in.ReadU32("axis");
  scheme.block_size = in.ReadU32("block_size");
  scheme.scale_buffer_index = in.ReadU32("scale_buffer_index");
  ReadZeroPointIndex(in, symmetric, scheme.zero_point_buffer_index);
  scheme.scale_type = ReadScaleType(in);
  in.ReadReserved(3, "quantization");
}

template <typename Blocked>  // Nf4 or Mxfp
void Read(ByteReader& in, bool, Blocked& scheme) {
  scheme.axis = in.ReadU32("axis");
  scheme.block_size = in.ReadU32("block_size");
  scheme.scale_buffer_index = in.ReadU32("scale_buffer_index");
}

std::string_view TagKind(uint8_t tag) {
  if (tag == 0x00 || tag == 0xFF) return "never valid";
  if (tag >= 0xF0) return "private";
  return tag >= 0x80 ? "reserved" : "unassigned";
}

}  // namespace

void PerTensorAffine::Check() const {
  if (!std::isfinite(scale) || scale == 0) {
    ThrowInvalidDescriptor(
        StrCat("quantization: scale is ", scale, ", it must be finite and not 0 as a float32"));
  }
}

void PerChannelAffine::Check() const {
  CheckAxis(axis);
  CheckBufferIndex(scale_buffer_index, "scale_buffer_index");
  if (zero_point_buffer_index)
    CheckBufferIndex(*zero_point_buffer_index, "zero_point_buffer_index");
}

void PerBlockAffine::Check() const {
  CheckAxis(axis);
  CheckBlockSize(block_size, 2, kLargestPowerOfTwo);
  CheckBufferIndex(scale_buffer_index, "scale_buffer_index");
  if (zero_point_buffer_index)
    CheckBufferIndex(*zero_point_buffer_index, "zero_point_buffer_index");
  if (scale_type.tag() > ElementTypes::kFloat32.tag()) {
    ThrowInvalidDescriptor(StrCat("quantization: scale_type is ", scale_type.name(),
                                  ", it must be float16, bfloat16 or float32"));
  }
}

void Nf4::Check() const {
  CheckAxis(axis);
  CheckBlockSize(block_size, 8, kLargestPowerOfTwo);
  CheckBufferIndex(scale_buffer_index, "scale_buffer_index");
}

void Mxfp::Check() const {
  CheckAxis(axis);
  CheckBlockSize(block_size, 16, 2048);
  CheckBufferIndex(scale_buffer_index, "scale_buffer_index");
}

void Quantization::DecodeFrom(std::span<const uint8_t> section) {
  ByteReader in(section);
  uint8_t tag = in.ReadU8("scheme_tag");
  if (tag < PerTensorAffine::kTag || tag > Mxfp::kTag) {
    ThrowInvalidDescriptor(StrCat("quantization: scheme_tag is ", HexByte(tag), ", which is ",
                                  TagKind(tag), "; known are 0x01 to 0x05"));
  }
  uint8_t version = in.ReadU8("scheme_version");
  if (version != kSchemeVersion) {
    ThrowInvalidDescriptor(
        StrCat("quantization: scheme_version is ", version, ", this version reads 1"));
  }
  uint16_t flags = in.ReadU16("quantization flags");
  uint16_t known =
      tag == PerChannelAffine::kTag || tag == PerBlockAffine::kTag ? kSymmetric : uint16_t{0};
  if ((flags & ~known) != 0) {
    ThrowInvalidDescriptor(StrCat("quantization: flags is ", flags, ", only ",
                                  known != 0 ? "bit 0 may be set" : "0 is allowed"));
  }
  auto read = [&]<typename Scheme>(std::type_identity<Scheme>) {
    auto& read_scheme = scheme.emplace<Scheme>();
    Read(in, (flags & kSymmetric) != 0, read_scheme);
    read_scheme.Check();
  };
  switch (tag) {
    case PerTensorAffine::kTag:
      read(std::type_identity<PerTensorAffine>());
      break;
    case PerChannelAffine::kTag:
      read(std::type_identity<PerChannelAffine>());
      break;
    case PerBlockAffine::kTag:
      read(std::type_identity<PerBlockAffine>());
      break;
    case Nf4::kTag:
      read(std::type_identity<Nf4>());
      break;
    default:
      read(std::type_identity<Mxfp>());
  }
  auto rest = in.ReadBytes(in.remaining(), "quantization");
  trailing.assign(rest.begin(), rest.end());
}

size_t Quantization::encoded_size() const noexcept {
  return std::visit([]<typename Kind>(const Kind&) { return Kind::kEncodedSize; }, scheme) +
         trailing.size();
}

void Quantization::Encode(ByteWriter& out) const noexcept {
  bool symmetric = (std::holds_alternative<PerChannelAffine>(scheme) ||
                    std::holds_alternative<PerBlockAffine>(scheme)) &&
                   !zero_point_buffer_index();
  out.WriteU8(std::visit([]<typename Kind>(const Kind&) { return Kind::kTag; }, scheme));
  out.WriteU8(kSchemeVersion);
  out.WriteU16(symmetric ? kSymmetric : uint16_t{0});
  if (const auto* tensor = std::get_if<PerTensorAffine>(&scheme)) {
    out.WriteF32(tensor->scale);
    out.WriteI32(tensor->zero_point);
    out.WriteZeros(4);
  } else if (const auto* channel = std::get_if<PerChannelAffine>(&scheme)) {
    out.WriteU32(channel->axis);
    out.WriteU32(channel->scale_buffer_index);
    out.WriteU32(channel->zero_point_buffer_index.value_or(kNoBufferIndex));
    out.WriteU8(ElementTypes::kFloat32.tag());
    out.WriteZeros(3);
  } else if (const auto* block = std::get_if<PerBlockAffine>(&scheme)) {
    out.WriteU32(block->axis);
    out.WriteU32(block->block_size);
    out.WriteU32(block->scale_buffer_index);
    out.WriteU32(block->zero_point_buffer_index.value_or(kNoBufferIndex));
    out.WriteU8(block->scale_type.tag());
    out.WriteZeros(3);
  } else {
    auto write = [&out](const auto& blocked) {
      out.WriteU32(blocked.axis);
      out.WriteU32(blocked.block_size);
      out.WriteU32(blocked.scale_buffer_index);
    };
    if (const auto* nf4 = std::get_if<Nf4>(&scheme)) write(*nf4);
    if (const auto* mxfp = std::get_if<Mxfp>(&scheme)) write(*mxfp);
  }
  out.WriteBytes(trailing);
}

std::optional<uint32_t> Quantization::axis() const noexcept {
  return std::visit(
      [](const auto& kind) -> std::optional<uint32_t> {
        if constexpr (requires { kind.axis; }) return kind.axis;
        return std::nullopt;
      },
      scheme);
}

std::optional<uint32_t> Quantization::scale_buffer_index() const noexcept {
  return std::visit(
      [](const auto& kind) -> std::optional<uint32_t> {
        if constexpr (requires { kind.scale_buffer_index; }) return kind.scale_buffer_index;
        return std::nullopt;
      },
      scheme);
}

std::optional<uint32_t> Quantization::zero_point_buffer_index() const noexcept {
  return std::visit(
      [](const auto& kind) -> std::optional<uint32_t> {
        if constexpr (requires { kind.zero_point_buffer_index; }) {
          return kind.zero_point_buffer_index;
        }
        return std::nullopt;
      },
      scheme);
}

void Quantization::CheckPlacement(size_t buffer_count, size_t layout_buffers) const {
  auto check = [&](uint32_t index, std::string_view field) {
    if (index >= buffer_count) {
      ThrowInvalidDescriptor(StrCat(field, ": quantization buffer index ", index,
                                    " is out of range, there are ", buffer_count, " buffers"));
    }
    if (index == 0) {
      ThrowInvalidDescriptor(StrCat(field, ": quantization buffer index 0 is the data buffer"));
    }
    if (index < layout_buffers) {
      ThrowInvalidDescriptor(StrCat(field, ": quantization buffer index ", index, " is one of the ",
                                    layout_buffers, " buffers of the layout itself"));
    }
  };
  std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.scale_buffer_index; }) {
          check(kind.scale_buffer_index, "scale_buffer_index");
        }
        if constexpr (requires { kind.zero_point_buffer_index; }) {
          if (kind.zero_point_buffer_index) {
            check(*kind.zero_point_buffer_index, "zero_point_buffer_index");
          }
        }
      },
      scheme);
}

}  // namespace hurray
