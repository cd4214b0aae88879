#include "base/host/system_files.hpp"

#include <gtest/gtest.h>

#include "testing/test_support.hpp"

namespace mf {
namespace {

TEST(SystemFiles, AreReadToTheirEnd) {
  const test::TempFolder folder;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + "\n";
  test::write_file(folder / "long", text);
  EXPECT_EQ(system_text(folder / "long"), text);
  EXPECT_EQ(system_text(folder / "none"), "");
  EXPECT_EQ(system_text(folder / ""), "") << "a folder has no text";
  std::vector<int> numbers;
  for_system_lines(folder / "long", [&](std::string_view line) {
    numbers.push_back(number_in<int>(line).value_or(-1));
  });
  ASSERT_EQ(numbers.size(), 5000U);
  EXPECT_EQ(numbers.back(), 4999);
}

TEST(SystemFiles, HaveLinesAndWords) {
  using Views = std::vector<std::string_view>;
  EXPECT_EQ(lines_in("a b\n\nc"), (Views{"a b", "", "c"}));
  EXPECT_EQ(lines_in("a\n"), Views{"a"});
  EXPECT_EQ(lines_in(""), Views{});
  EXPECT_EQ(words_in(" cpu0\t1  20\n"), (Views{"cpu0", "1", "20"}));
  EXPECT_EQ(words_in(" \t"), Views{});
}

TEST(SystemFiles, NumbersStandAtTheBeginningAndAreFinite) {
  EXPECT_EQ(number_in<double>("1.25 0.80"), 1.25);
  EXPECT_EQ(number_in<std::int64_t>("\t 9223372036854771712\n"), 9223372036854771712);
  EXPECT_EQ(number_in<int>("-1"), -1);
  for (const char* text : {"", " ", "max", "nan", "inf", "1e999", "+", "-"}) {
    EXPECT_EQ(number_in<double>(text), std::nullopt) << text;
  }
  EXPECT_EQ(number_in<int>("9223372036854771712"), std::nullopt) << "it is too large for an int";
}

}  // namespace
}  // namespace mf
