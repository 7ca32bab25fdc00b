#include "core/device.h"

#include <array>
#include <string>

#include "core/str_cat.h"
#include "testing.h"

namespace hurray {
namespace {

// The validity matrix of format section 4: one row per device kind, one column per class.
struct Kind {
  std::string name;
  uint8_t tag;
  std::array<bool, 4> allowed;  // standard, host_pinned, unified, peer
};

class DeviceKind : public testing::TestWithParam<Kind> {};

TEST_P(DeviceKind, HasItsNameAndTag) {
  EXPECT_EQ(DeviceKindName(GetParam().tag), GetParam().name);
  EXPECT_EQ(DeviceKindTag(GetParam().name), GetParam().tag);
}

TEST_P(DeviceKind, AllowsTheMemoryClassesOfTheFormatOnly) {
  for (unsigned memory_class = 0; memory_class < 256; ++memory_class) {
    Device device{GetParam().tag, static_cast<uint8_t>(memory_class)};
    if (memory_class < 4 && GetParam().allowed[memory_class]) {
      EXPECT_NO_THROW(CheckMemoryClassAllowed(device)) << memory_class;
    } else {
      EXPECT_THAT([&] { CheckMemoryClassAllowed(device); },
                  ThrowsCode(ErrorCode::kInvalidDescriptor, GetParam().name))
          << memory_class;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Format, DeviceKind,
                         testing::Values(Kind{"cpu", 0, {true, true, true, false}},
                                         Kind{"cuda", 1, {true, true, true, true}},
                                         Kind{"rocm", 2, {true, true, true, true}},
                                         Kind{"metal", 3, {true, true, true, false}},
                                         Kind{"vulkan", 4, {true, true, true, true}},
                                         Kind{"webgpu", 5, {true, false, false, false}},
                                         Kind{"hexagon", 6, {true, true, true, false}},
                                         Kind{"level_zero", 7, {true, true, true, true}},
                                         Kind{"opencl", 8, {true, true, true, false}}),
                         [](const auto& row) { return row.param.name; });

TEST(PrivateDevice, AllowsStandardAndPrivateMemoryOnly) {
  for (unsigned tag = 0xF0; tag <= 0xFE; ++tag) {
    EXPECT_EQ(DeviceKindName(tag), "private");
    for (unsigned memory_class = 0; memory_class < 256; ++memory_class) {
      Device device{static_cast<uint8_t>(tag), static_cast<uint8_t>(memory_class)};
      EXPECT_TRUE(device.is_private());
      if (memory_class == 0 || (memory_class >= 0xF0 && memory_class <= 0xFE)) {
        EXPECT_NO_THROW(CheckMemoryClassAllowed(device)) << memory_class;
      } else {
        EXPECT_THAT([&] { CheckMemoryClassAllowed(device); },
                    ThrowsCode(ErrorCode::kInvalidDescriptor))
            << memory_class;
      }
    }
  }
}

TEST(DeviceKindName, ExistsForNoOtherTag) {
  for (unsigned tag : {0x09u, 0x7Fu, 0xEFu, 0xFFu, 0x100u, 0xFFFFFFFFu}) {
    EXPECT_EQ(DeviceKindName(tag), std::nullopt) << tag;
  }
}

TEST(MemoryClassName, ExistsForFourTagsAndThePrivateOnes) {
  EXPECT_EQ(MemoryClassName(0), "standard");
  EXPECT_EQ(MemoryClassName(1), "host_pinned");
  EXPECT_EQ(MemoryClassName(2), "unified");
  EXPECT_EQ(MemoryClassName(3), "peer");
  EXPECT_EQ(MemoryClassName(0xF0), "private");
  EXPECT_EQ(MemoryClassName(0xFE), "private");
  for (unsigned tag : {0x04u, 0xEFu, 0xFFu, 0x100u}) {
    EXPECT_EQ(MemoryClassName(tag), std::nullopt) << tag;
  }
}

TEST(DeviceNames, DoNotIncludePrivate) {
  EXPECT_EQ(DeviceKindTag("private"), std::nullopt);
  EXPECT_EQ(DeviceKindTag("CUDA"), std::nullopt);
  EXPECT_EQ(MemoryClassTag("private"), std::nullopt);
  EXPECT_EQ(MemoryClassTag("peer"), uint8_t{3});
  EXPECT_EQ(KnownDeviceKinds(),
            "cpu, cuda, rocm, metal, vulkan, webgpu, hexagon, level_zero, opencl");
  EXPECT_EQ(KnownMemoryClasses(), "standard, host_pinned, unified, peer");
}

TEST(DlpackDeviceType, TellsTheKindsOfCudaMemoryApart) {
  EXPECT_EQ(DlpackDeviceType({0, 0}), 1);
  EXPECT_EQ(DlpackDeviceType({1, 0}), 2);
  EXPECT_EQ(DlpackDeviceType({1, 1}), 3);
  EXPECT_EQ(DlpackDeviceType({1, 2}), 13);
  EXPECT_EQ(DlpackDeviceType({2, 0}), 10);
  EXPECT_EQ(DlpackDeviceType({2, 1}), 11);
}

TEST(DlpackDeviceType, IsRefusedWhereDlpackHasNone) {
  for (Device device : {Device{1, 3}, Device{2, 2}, Device{0xF0, 0}, Device{0, 3}}) {
    EXPECT_THAT([&] { DlpackDeviceType(device); }, ThrowsCode(ErrorCode::kUnsupported))
        << StrCat(device.tag, " ", device.memory_class);
  }
}

}  // namespace
}  // namespace hurray
