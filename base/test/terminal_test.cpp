#include "base/terminal.hpp"

#include <gtest/gtest.h>

namespace mf {
namespace {

TEST(Terminal, ColumnsAreOfCharacters) {
  EXPECT_EQ(columns_of(""), 0u);
  EXPECT_EQ(columns_of("zoë €"), 5u);
  EXPECT_EQ(columns_of("日本 한 Ａ"), 10u) << "two each";
  EXPECT_EQ(columns_of("😀"), 2u);
  EXPECT_EQ(columns_of("\xff\x80\x80\x80\x80\x80"), 2u)
      << "not UTF-8: it counts, and the loop ends";
}

TEST(Terminal, WhatDoesNotFitEndsInAnEllipsis) {
  EXPECT_EQ(cut_to("als_cpu", 7), "als_cpu");
  EXPECT_EQ(cut_to("als_cpu", 6), "als_c…");
  EXPECT_EQ(cut_to("zoë€zoë", 5), "zoë€…") << "never within a character";
  EXPECT_EQ(cut_to("日本語", 4), "日…") << "never half of a character";
  EXPECT_EQ(columns_of(cut_to("日本語", 4)), 3u);
  EXPECT_EQ(cut_to("als", 1), "…");
  EXPECT_EQ(cut_to("als", 0), "");
}

TEST(Terminal, LinesAreBrokenAtBlanks) {
  EXPECT_EQ(folded("one two three", 20, 2), "one two three");
  EXPECT_EQ(folded("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(folded("one two three", 6, 2), "one\n  two\n  three");
  EXPECT_EQ(folded("  a  b c", 6, 4), "  a  b\n    c") << "blanks of a column stay";
  EXPECT_EQ(folded("unbreakable one", 4, 2), "unbreakable\n  one");
  EXPECT_EQ(folded("", 4, 2), "");
}

TEST(Terminal, AFileIsNotATerminal) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(is_terminal(file));
  EXPECT_EQ(terminal_columns(file), std::nullopt);
  EXPECT_EQ(shown_columns(file), 99u);
  EXPECT_STREQ(clear_line(file), "");
  EXPECT_EQ(in_colour(file, Colour::red, "error"), "error");
  std::fclose(file);
}

}  // namespace
}  // namespace mf
