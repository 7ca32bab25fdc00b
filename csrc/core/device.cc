#include "core/device.h"

#include <array>

#include "core/error.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

// Bit k allows memory class k.
constexpr uint8_t kS = 1, kH = 2, kU = 4, kP = 8;
constexpr int8_t kNone = -1;

struct KindRow {
  std::string_view name;
  uint8_t allowed;
  // DLPack device type by memory class: standard, pinned, unified, peer.
  std::array<int8_t, 4> dlpack;
};

constexpr std::array<KindRow, kDeviceKinds> kKinds{{
    {"cpu", kS | kH | kU, {1, 1, 1, kNone}},
    {"cuda", kS | kH | kU | kP, {2, 3, 13, kNone}},
    {"rocm", kS | kH | kU | kP, {10, 11, kNone, kNone}},
    {"metal", kS | kH | kU, {8, 8, 8, kNone}},
    {"vulkan", kS | kH | kU | kP, {7, 7, 7, kNone}},
    {"webgpu", kS, {15, kNone, kNone, kNone}},
    {"hexagon", kS | kH | kU, {16, 16, 16, kNone}},
    {"level_zero", kS | kH | kU | kP, {14, 14, 14, kNone}},
    {"opencl", kS | kH | kU, {4, 4, 4, kNone}},
}};

constexpr std::array<std::string_view, kMemoryClasses> kClasses{"standard", "host_pinned",
                                                                "unified", "peer"};

std::string NameOrByte(std::optional<std::string_view> name, uint8_t tag) {
  return name && !IsPrivateTag(tag) ? std::string(*name) : HexByte(tag);
}

}  // namespace

std::optional<std::string_view> DeviceKindName(uint32_t tag) noexcept {
  if (tag < kKinds.size()) return kKinds[tag].name;
  if (IsPrivateTag(tag)) return "private";
  return std::nullopt;
}

std::optional<std::string_view> MemoryClassName(uint32_t tag) noexcept {
  if (tag < kClasses.size()) return kClasses[tag];
  if (IsPrivateTag(tag)) return "private";
  return std::nullopt;
}

std::optional<uint8_t> DeviceKindTag(std::string_view name) noexcept {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i].name == name) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

std::optional<uint8_t> MemoryClassTag(std::string_view name) noexcept {
  for (size_t i = 0; i < kClasses.size(); ++i) {
    if (kClasses[i] == name) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

std::string KnownDeviceKinds() {
  std::string names;
  for (const KindRow& row : kKinds) names += StrCat(names.empty() ? "" : ", ", row.name);
  return names;
}

std::string KnownMemoryClasses() {
  std::string names;
  for (std::string_view name : kClasses) names += StrCat(names.empty() ? "" : ", ", name);
  return names;
}

void CheckMemoryClassAllowed(Device device) {
  bool allowed = device.is_private()
                     ? device.memory_class == kStandardMemory || IsPrivateTag(device.memory_class)
                     : device.tag < kKinds.size() && device.memory_class < kClasses.size() &&
                           (kKinds[device.tag].allowed >> device.memory_class & 1) != 0;
  if (!allowed) {
    ThrowInvalidDescriptor(StrCat(
        "memory_class ", NameOrByte(MemoryClassName(device.memory_class), device.memory_class),
        " is not allowed on device kind ", NameOrByte(DeviceKindName(device.tag), device.tag)));
  }
}

int32_t DlpackDeviceType(Device device) {
  if (device.tag < kKinds.size() && device.memory_class < kClasses.size()) {
    int8_t type = kKinds[device.tag].dlpack[device.memory_class];
    if (type != kNone) return type;
  }
  throw Error(ErrorCode::kUnsupported,
              StrCat("DLPack has no device type for device kind ",
                     NameOrByte(DeviceKindName(device.tag), device.tag), " with memory_class ",
                     NameOrByte(MemoryClassName(device.memory_class), device.memory_class)));
}

}  // namespace hurray
