// Where the data files of the tests are.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace hurray {

// tests/data, or what HURRAY_TEST_DATA says. The build names sources relative to the checkout, so
// without the variable the tests run there.
inline std::filesystem::path TestData() {
  if (const char* folder = std::getenv("HURRAY_TEST_DATA")) return folder;
  return std::filesystem::path(__FILE__).parent_path().parent_path() / "data";
}

inline std::vector<uint8_t> ReadTestData(const std::string& name) {
  std::ifstream in(TestData() / name, std::ios::binary);
  if (!in) {
    throw std::runtime_error("no " + (TestData() / name).string() + "; see HURRAY_TEST_DATA");
  }
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace hurray
