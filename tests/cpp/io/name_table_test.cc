#include "io/name_table.h"

#include "testing.h"

namespace hurray {
namespace {

TEST(NameTable, FindsEachOfManyNames) {
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) names.push_back("model.layers." + std::to_string(i) + ".weight");
  auto name_of = [&](uint32_t i) -> std::string_view { return names[i]; };
  NameTable table(names.size());
  for (uint32_t i = 0; i < names.size(); ++i) ASSERT_FALSE(table.Add(names[i], i, name_of));
  for (uint32_t i = 0; i < names.size(); ++i) ASSERT_EQ(table.Find(names[i], name_of), i);
  EXPECT_FALSE(table.Find("model.layers.5000.weight", name_of));
  EXPECT_FALSE(table.Find("", name_of));
}

TEST(NameTable, TellsWhichNameWasThereBefore) {
  std::vector<std::string> names{"a", "b", "a"};
  auto name_of = [&](uint32_t i) -> std::string_view { return names[i]; };
  NameTable table(3);
  EXPECT_FALSE(table.Add("a", 0, name_of));
  EXPECT_FALSE(table.Add("b", 1, name_of));
  EXPECT_EQ(table.Add("a", 2, name_of), 0u);
}

TEST(NameTable, TellsNamesApartThatZerosLengthen) {
  std::vector<std::string> names;
  for (size_t length = 1; length < 40; ++length) names.push_back(std::string(length, '\0'));
  auto name_of = [&](uint32_t i) -> std::string_view { return names[i]; };
  NameTable table(names.size());
  for (uint32_t i = 0; i < names.size(); ++i) EXPECT_FALSE(table.Add(names[i], i, name_of));
}

TEST(NameTable, WithoutNamesFindsNone) {
  EXPECT_FALSE(NameTable().Find("a", [](uint32_t) { return std::string_view(); }));
  EXPECT_FALSE(NameTable(0).Find("a", [](uint32_t) { return std::string_view(); }));
}

}  // namespace
}  // namespace hurray
