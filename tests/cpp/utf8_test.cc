#include "core/utf8.h"

#include "testing.h"

namespace hurray {
namespace {

struct Text {
  const char* name;
  std::string bytes;
  bool valid;
};

class Utf8 : public testing::TestWithParam<Text> {};

TEST_P(Utf8, IsToldFromOtherBytes) {
  const Text& text = GetParam();
  EXPECT_EQ(IsValidUtf8(AsBytes(text.bytes)), text.valid);
  // The same behind and before enough ASCII for the fast path.
  EXPECT_EQ(IsValidUtf8(AsBytes("eight by" + text.bytes + "eight by")), text.valid);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Utf8,
    testing::Values(
        Text{"Empty", "", true}, Text{"Ascii", "weights.0", true},
        Text{"Zero", std::string(1, '\0'), true}, Text{"TwoBytes", "\xC2\x80\xDF\xBF", true},
        Text{"ThreeBytes", "\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF", true},
        Text{"FourBytes", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", true},
        Text{"LoneContinuation", "\x80", false}, Text{"LongForm2", "\xC1\xBF", false},
        Text{"LongForm3", "\xE0\x9F\xBF", false}, Text{"LongForm4", "\xF0\x8F\xBF\xBF", false},
        Text{"Surrogate", "\xED\xA0\x80", false}, Text{"PastTheEnd", "\xF4\x90\x80\x80", false},
        Text{"LeadF5", "\xF5\x80\x80\x80", false}, Text{"CutShort", "\xE2\x82", false},
        Text{"NotContinued", "\xC3(", false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace hurray
