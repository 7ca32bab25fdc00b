// Devices and memory classes, and which of them go together. Format: section 4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/element_type.h"

namespace hurray {

inline constexpr uint8_t kCpuTag = 0x00;
inline constexpr uint8_t kStandardMemory = 0x00;  // which every device kind has
inline constexpr uint8_t kDeviceKinds = 9;        // that are named, by tags from 0
inline constexpr uint8_t kMemoryClasses = 4;      // the same

inline constexpr bool IsDeviceKindTag(uint32_t tag) noexcept {
  return tag < kDeviceKinds || IsPrivateTag(tag);
}
inline constexpr bool IsMemoryClassTag(uint32_t tag) noexcept {
  return tag < kMemoryClasses || IsPrivateTag(tag);
}

// A device kind with its memory class: what a descriptor stores. Which device of that kind it
// is (the ordinal) is known to a process only and never stored.
struct Device {
  uint8_t tag = kCpuTag;
  uint8_t memory_class = kStandardMemory;

  bool is_cpu() const noexcept { return tag == kCpuTag; }
  bool is_private() const noexcept { return tag >= 0xF0 && tag <= 0xFE; }

  friend bool operator==(Device, Device) noexcept = default;
};

// "cpu", "cuda", …, "private" for private tags; nullopt for tags that mean nothing.
std::optional<std::string_view> DeviceKindName(uint32_t tag) noexcept;
std::optional<std::string_view> MemoryClassName(uint32_t tag) noexcept;
// The tag of a name; "private" names no single tag, so it has none.
std::optional<uint8_t> DeviceKindTag(std::string_view name) noexcept;
std::optional<uint8_t> MemoryClassTag(std::string_view name) noexcept;
// "cpu, cuda, …", for messages.
std::string KnownDeviceKinds();
std::string KnownMemoryClasses();

// Throws kInvalidDescriptor if memory of this class cannot exist on that kind of device.
void CheckMemoryClassAllowed(Device device);

// The device type DLPack gives it. Throws kUnsupported where DLPack has none.
int32_t DlpackDeviceType(Device device);

}  // namespace hurray
