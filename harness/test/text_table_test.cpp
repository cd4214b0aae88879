#include "harness/results/meaning/text_table.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "base/terminal.hpp"

namespace mf {
namespace {

const std::vector<Column> kColumns = {{"data set", true}, {"algorithm", true}, {"seeds"},
                                      {"test rmse"},      {"best on test"},    {"status", true}};

std::string text_of(const std::string& other_data, std::size_t room) {
  return table_text(kColumns,
                    {{"books", "sgd_serial factors=128", "3", "0.9", "0.8", "3 completed"},
                     {other_data, "als_cpu", "3", "0.95", "0.9", "2 completed, 1 diverged"}},
                    room);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(TextTable, LeavesOutWhatSaysLess) {
  EXPECT_EQ(first_line(text_of("books", 80)),
            "algorithm               seeds  test rmse  best on test  status");
  EXPECT_EQ(first_line(text_of("books", 74)), "algorithm               seeds  test rmse  status");
  EXPECT_EQ(first_line(text_of("books", 60)), "algorithm               test rmse  status");
  EXPECT_EQ(first_line(text_of("movies", 67)), "data set  algorithm              test rmse  status")
      << "two data sets: names are cut instead";
}

TEST(TextTable, NoLineIsWiderThanTheRoom) {
  for (std::size_t room = 1; room < 100; ++room) {
    std::istringstream lines(text_of("日本の映画", room));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), room) << line;
  }
  EXPECT_NE(text_of("books", 50).find("sgd_serial fa…"), std::string::npos);
}

TEST(TextTable, CellsAreNoCommandsOfTheTerminal) {
  EXPECT_NE(text_of("a\x1b[31m\nb", kAnyWidth).find("a\\x1b[31m\\nb"), std::string::npos);
}

}  // namespace
}  // namespace mf
