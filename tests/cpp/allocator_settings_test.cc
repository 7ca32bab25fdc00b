#include "storage/allocator_settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hurray {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// A variable of the environment for as long as a test runs.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(AllocatorSettings, AreSensibleByThemselves) {
  AllocatorSettings settings = AllocatorSettings::FromEnvironment();
  EXPECT_GT(settings.cache_bytes, 0u);
  EXPECT_LE(settings.cache_bytes, 256 * kMiB);
#ifdef __linux__
  EXPECT_TRUE(settings.huge_pages);
  EXPECT_FALSE(settings.portable);
#endif
}

struct CacheBytes {
  const char* name;
  const char* text;
  size_t bytes;
};
class CacheBytesText : public testing::TestWithParam<CacheBytes> {};

TEST_P(CacheBytesText, IsRead) {
  Variable variable("HURRAY_ALLOCATOR_CACHE_BYTES", GetParam().text);
  EXPECT_EQ(AllocatorSettings::FromEnvironment().cache_bytes, GetParam().bytes);
}
INSTANTIATE_TEST_SUITE_P(Texts, CacheBytesText,
                         testing::Values(CacheBytes{"None", "0", 0}, CacheBytes{"Some", "5", 5},
                                         CacheBytes{"More", "4294967296", size_t{1} << 32},
                                         CacheBytes{"BlanksBehind", "7 \n", 7}),
                         [](const auto& row) { return row.param.name; });

class StrangeCacheBytes : public testing::TestWithParam<CacheBytes> {};

TEST_P(StrangeCacheBytes, AreIgnored) {
  size_t usual = AllocatorSettings::FromEnvironment().cache_bytes;
  Variable variable("HURRAY_ALLOCATOR_CACHE_BYTES", GetParam().text);
  EXPECT_EQ(AllocatorSettings::FromEnvironment().cache_bytes, usual);
}
INSTANTIATE_TEST_SUITE_P(Texts, StrangeCacheBytes,
                         testing::Values(CacheBytes{"Empty", "", 0}, CacheBytes{"Unit", "1M", 0},
                                         CacheBytes{"Negative", "-1", 0},
                                         CacheBytes{"TooMany", "99999999999999999999999", 0},
                                         CacheBytes{"Word", "off", 0}),
                         [](const auto& row) { return row.param.name; });

TEST(AllocatorSettings, SwitchHugePagesOff) {
  Variable variable("HURRAY_ALLOCATOR_HUGE_PAGES", "0");
  EXPECT_FALSE(AllocatorSettings::FromEnvironment().huge_pages);
}

TEST(AllocatorSettings, SwitchToWhatEverySystemHas) {
  Variable variable("HURRAY_ALLOCATOR_PORTABLE", "1");
  AllocatorSettings settings = AllocatorSettings::FromEnvironment();
  EXPECT_TRUE(settings.portable);
  EXPECT_FALSE(settings.huge_pages);
}

}  // namespace
}  // namespace hurray
