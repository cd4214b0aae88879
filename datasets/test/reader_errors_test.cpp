// Malformed files: every error is an Error(data) with the place, the finding and the expectation,
// and it is the first one of the file for any number of threads and any cut into chunks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "datasets/readers/archive_reader.hpp"
#include "datasets/readers/fields.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/test/malformed.hpp"
#include "testing/reader_support.hpp"

namespace mf {
namespace {

using test::Malformed;
using test::TempFolder;
using test::TextFormat;

constexpr int kLines = 4;  // ratings of a file, the third of which the tests spoil

// A file of kLines ratings of which line `bad` (from 0) is replaced; the number of its line.
struct Spoiled {
  std::string text;
  int line = 0;
};

Spoiled spoil(const TextFormat& format, const std::string& bad_line, int bad = 2,
              const std::string& user = "1", const std::string& item = "1",
              const std::string& group_count = "4") {
  Spoiled file;
  file.text = test::replaced(format.head, {{"{m}", "9"}, {"{n}", "9"}, {"{nnz}", "4"}});
  if (format.grouped_by != ' ') {
    file.text += test::replaced(
        format.group, {{"{g}", format.grouped_by == 'u' ? user : item}, {"{k}", group_count}});
    file.text += "\n";
  }
  for (int k = 0; k < kLines; ++k) {
    if (k == bad)
      file.line = 1 + static_cast<int>(std::count(file.text.begin(), file.text.end(), '\n'));
    const std::string id = std::to_string(k + 1);
    file.text += (k == bad ? bad_line : test::line_of(format, id, id, "3")) + "\n";
  }
  return file;
}

class MalformedText : public testing::TestWithParam<TextFormat> {
 protected:
  // The one message for all threads and chunks.
  std::string error(const std::string& text, std::optional<RatingScale> scale = {}) {
    const std::string path = folder_ / "bad";
    test::write_file(path, text);
    std::set<std::string> messages;
    for (const int threads : {1, 2, 3}) {
      for (const std::size_t chunk : {1U, 5U, 11U, 30U, 1000U}) {
        ReadOptions options = test::options_of(GetParam().name, threads);
        options.scale = scale;
        options.ids = IdKind::integers;
        const Error e = test::error_of([&] { read_ratings_chunked(path, options, chunk); });
        EXPECT_EQ(e.kind(), ErrorKind::data) << e.what();
        messages.insert(e.what());
      }
    }
    EXPECT_EQ(messages.size(), 1U) << *messages.begin() << "\n" << *messages.rbegin();
    return *messages.begin();
  }

  // "bad:LINE:COLUMN: found FOUND, expected "
  static std::string at(int line, std::size_t column, const std::string& found) {
    return fmt::format("bad:{}:{}: found {}, expected ", line, column, found);
  }

  void expect_bad_field(const std::string& placeholder, const std::string& bad,
                        std::optional<RatingScale> scale = {}) {
    std::string line = GetParam().line;
    if (line.find(placeholder) == std::string::npos) return expect_bad_group(bad);
    for (const char* other : {"{u}", "{i}", "{r}"}) {
      if (placeholder != other) line = test::replaced(line, {{other, "3"}});
    }
    const std::size_t column = line.find(placeholder) + 1;
    const Spoiled file = spoil(GetParam(), test::replaced(line, {{placeholder, bad}}));
    EXPECT_HAS(error(file.text, scale), at(file.line, column, "'" + bad + "'"));
  }

  // The id is not on the line but in the group line, the first of the file.
  void expect_bad_group(const std::string& bad) {
    const TextFormat& format = GetParam();
    const Spoiled file = spoil(format, test::line_of(format, "5", "5", "3"), 2, bad, bad);
    EXPECT_HAS(error(file.text), at(1, 1, "'" + bad + "'"));
  }

  TempFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Formats, MalformedText, testing::ValuesIn(test::text_formats()),
                         test::name_of);

TEST_P(MalformedText, TheUnspoiledFileIsRead) {
  const Spoiled file = spoil(GetParam(), test::line_of(GetParam(), "5", "5", "3"));
  test::write_file(folder_ / "good", file.text);
  EXPECT_EQ(read_ratings(folder_ / "good", test::options_of(GetParam().name)).values.size(), 4U);
}

TEST_P(MalformedText, EmptyFile) {
  EXPECT_HAS(error(""), "bad: found an empty file, expected ratings");
  EXPECT_HAS(error("\xef\xbb\xbf"), "bad: found an empty file, expected ratings");
}

TEST_P(MalformedText, BlankLinesAlone) { EXPECT_HAS(error("\n\n"), ", expected "); }

TEST_P(MalformedText, HeaderOnly) {
  const std::string head =
      test::replaced(GetParam().head, {{"{m}", "9"}, {"{n}", "9"}, {"{nnz}", "4"}});
  const std::string group = test::replaced(GetParam().group, {{"{g}", "1"}, {"{k}", "4"}});
  if ((head + group).empty()) return;  // no header in this format: EmptyFile covers it
  const std::string message = error(head + group);
  EXPECT_TRUE(message.find("found no ratings") != std::string::npos ||
              message.find("found no entries") != std::string::npos ||
              message.find("found the end of the file after 0 ratings") != std::string::npos)
      << message;
}

// In the middle, and at the end of a file that is cut.
TEST_P(MalformedText, MissingColumn) {
  const std::string& missing = GetParam().missing;
  for (const int bad : {2, kLines - 1}) {
    Spoiled file = spoil(GetParam(), missing, bad);
    if (bad == kLines - 1) file.text.pop_back();
    EXPECT_HAS(error(file.text), at(file.line, missing.size() + 1, "the end of the line"));
  }
}

TEST_P(MalformedText, ExtraColumn) {
  const Spoiled file = spoil(GetParam(), GetParam().extra);
  const std::string message = error(file.text);
  EXPECT_HAS(message, fmt::format("bad:{}:", file.line));
  EXPECT_HAS(message, "found ");
  EXPECT_TRUE(message.find("end of the line") != std::string::npos ||
              message.find("columns, as in the header") != std::string::npos)
      << message;
}

TEST_P(MalformedText, FieldsThatAreNoRatingOrId) {
  for (const char* bad : {"abc", "3x", "x3", "1.2.3", "--1", "nan", "NaN", "-nan", "inf", "-inf",
                          "Infinity", "1e39", "-1e39"}) {
    expect_bad_field("{r}", bad);
  }
  for (const char* bad : {"abc", "3x", "x3", "1.5", "1e3", "2147483648", "-1", "-0", "+1",
                          "18446744073709551617", "99999999999999999999999999"}) {
    expect_bad_field("{u}", bad);
    expect_bad_field("{i}", bad);
  }
}

TEST_P(MalformedText, RatingOutsideTheScale) {
  for (const char* bad : {"0.5", "5.5", "-3", "3.25", "1e9"}) {
    expect_bad_field("{r}", bad, RatingScale{1, 5, 0.5F});
  }
  const Spoiled file = spoil(GetParam(), test::line_of(GetParam(), "5", "5", "3.25"));
  EXPECT_HAS(error(file.text, RatingScale{1, 5, 0.5F}), "a rating from 1 to 5 in steps of 0.5");
  // Any value between is on a scale without steps.
  test::write_file(folder_ / "good", file.text);
  ReadOptions options = test::options_of(GetParam().name);
  options.scale = RatingScale{1, 5, 0};
  EXPECT_EQ(read_ratings(folder_ / "good", options).values.size(), 4U);
}

// Any scale is either refused or looked at without leaving the range of an integer: 2^63 steps.
TEST(Scale, StepsTooFineForFloatsAreRefused) {
  for (const RatingScale& bad :
       {RatingScale{1, 5, 1e-38F}, RatingScale{1, 5, 1e-7F}, RatingScale{-1e9F, 1e9F, 1},
        RatingScale{1, 5, -1}, RatingScale{5, 1, 1}, RatingScale{1, 1, 1},
        RatingScale{0, std::numeric_limits<float>::infinity(), 1}, RatingScale{0, std::nanf(""), 1},
        RatingScale{0, 1, std::nanf("")}}) {
    EXPECT_TRUE(why_no_scale(bad)) << bad.min << " " << bad.max << " " << bad.step;
    EXPECT_EQ(test::error_of([&] { ScaleCheck{bad}; }).kind(), ErrorKind::usage);
  }
}

TEST(Scale, ValuesOnASteppedScaleAreAcceptedHoweverManyStepsThereAre) {
  for (const RatingScale& scale : {RatingScale{1, 5, 0.1F}, RatingScale{0, 100'000, 0.1F},
                                   RatingScale{-50, 50, 0.01F}, RatingScale{1, 8'000'000, 1}}) {
    ASSERT_FALSE(why_no_scale(scale));
    const ScaleCheck check(scale);
    const double steps = (double{scale.max} - double{scale.min}) / double{scale.step};
    for (const double share : {0.0, 0.001, 0.3333, 0.5, 0.98765, 1.0}) {
      const double value = scale.min + std::floor(share * steps) * double{scale.step};
      EXPECT_TRUE(check.accepts(static_cast<float>(value))) << value << " of " << scale.max;
    }
    EXPECT_FALSE(check.accepts(scale.min - scale.step));
    EXPECT_FALSE(check.accepts(std::nanf("")));
  }
  EXPECT_FALSE(ScaleCheck(RatingScale{1, 5, 0.5F}).accepts(1.25F));
}

TEST_P(MalformedText, EmptyFields) {
  const TextFormat& format = GetParam();
  for (const auto& line :
       {test::line_of(format, "5", "5", ""), test::line_of(format, "", "5", "3")}) {
    if (line == test::line_of(format, "5", "5", "3")) continue;  // the id is in the group line
    const Spoiled file = spoil(format, line);
    EXPECT_HAS(error(file.text), fmt::format("bad:{}:", file.line));
  }
}

TEST_P(MalformedText, BlankLineInTheMiddle) {
  for (const char* blank : {"", "\r"}) {
    const Spoiled file = spoil(GetParam(), blank);
    EXPECT_HAS(error(file.text), at(file.line, 1, "a blank line"));
  }
}

TEST_P(MalformedText, BinaryBytesAreShownEscaped) {
  const Spoiled file = spoil(GetParam(), std::string("\x00\xff", 2));
  EXPECT_HAS(error(file.text), fmt::format("bad:{}:1: found '\\x00\\xff'", file.line));
}

TEST_P(MalformedText, TheFirstOfManyErrorsIsReported) {
  const TextFormat& format = GetParam();
  const std::string good = test::line_of(format, "5", "5", "3") + "\n";
  const std::string bad = test::line_of(format, "5", "5", "bad") + "\n";
  std::string text = test::replaced(format.head, {{"{m}", "9"}, {"{n}", "9"}, {"{nnz}", "9999"}});
  if (format.grouped_by != ' ') {
    text += test::replaced(format.group, {{"{g}", "5"}, {"{k}", "9999"}}) + "\n";
  }
  for (int k = 0; k < 40; ++k) text += good;
  const auto line = 1 + std::count(text.begin(), text.end(), '\n');
  for (int k = 0; k < 200; ++k) text += bad;
  EXPECT_HAS(error(text), fmt::format("bad:{}:", line));
}

TEST_P(MalformedText, TheByteOrderMarkIsInNoColumn) {
  const TextFormat& format = GetParam();
  const Spoiled file = spoil(format, test::line_of(format, "1", "1", "x"), 0);
  const std::string plain = error(file.text);
  EXPECT_EQ(error("\xef\xbb\xbf" + file.text), plain);
}

// ---- errors of single formats ----

TEST_F(Malformed, TimesAreChecked) {
  EXPECT_HAS(error("1\t2\t3\t4\n1\t3\t3\tsoon\n", "movielens-tab"),
             "bad:2:7: found 'soon', expected a time");
  EXPECT_HAS(error("1\t2\t3\t4\n1\t3\t3\t5x\n", "movielens-tab"), "bad:2:7: found '5x'");
  EXPECT_HAS(error("1\t2\t3\t4\n1\t3\t3\t\n", "movielens-tab"),
             "bad:2:7: found the end of the line");
  EXPECT_HAS(error("1\t2\t3\t4\n1\t3\t3\n", "movielens-tab"), "bad:2:6: found the end of the line");
  EXPECT_HAS(error("1\t2\t3\n1\t3\t3\t4\n", "movielens-tab"), "bad:2:6: found another column");
  EXPECT_HAS(error("1:\n2,3,soon\n", "netflix"),
             "bad:2:5: found 'soon', expected a time: a number, or a date such as");
}

TEST_F(Malformed, PairsHaveTwoColumns) {
  EXPECT_HAS(error("1 2\n3\n", "pairs"),
             "bad:2:2: found the end of the line, expected another column (user item)");
  EXPECT_HAS(error("1 2\n3 4 5\n", "pairs"),
             "bad:2:4: found another column, expected the end of the line (user item)");
  EXPECT_HAS(error("1 2\n3 4.5\n", "pairs"), "bad:2:3: found '4.5'");
  EXPECT_HAS(error("1 2\n3 x\n", "pairs", "bad", IdKind::integers),
             "bad:2:3: found 'x', expected an item id (an integer");
  EXPECT_HAS(error("1 2\n\n3 4\n", "pairs"), "bad:2");
  test::write_file(folder_ / "pairs", "1 2\n");
  ReadOptions scaled = test::options_of("pairs");
  scaled.scale = RatingScale{2, 5, 1};
  EXPECT_HAS(test::error_of([&] { read_ratings(folder_ / "pairs", scaled); }).what(),
             "pairs: found observed pairs, of the value 1, expected a rating from 2 to 5 in steps "
             "of 1; leave rating_scale out");
}

TEST_F(Malformed, ListsAreOfIds) {
  const auto integers = [&](const std::string& text) {
    return error(text, "lists", "bad", IdKind::integers);
  };
  EXPECT_HAS(integers("1 2 3\n2 5 x 7\n"), "bad:2:5: found 'x', expected an item id (an");
  EXPECT_HAS(error("1 2 3\n2 5 6.5 7\n", "lists"),
             "bad:2:5: found '6.5', expected a number and a blank (user item item ...)");
  EXPECT_HAS(integers("1 2 3\n2x 5\n"), "bad:2:1: found '2x'");
  EXPECT_HAS(error("1 2 3\n2 5,6,7\n", "lists"), "bad:2:3: found '5,6,7'");
  EXPECT_HAS(integers("1 2 3\n2 -5\n"), "bad:2:3: found '-5', expected an item id");
  EXPECT_HAS(integers("1 2 3\n2 2147483648\n"), "bad:2:3: found '2147483648'");
  EXPECT_HAS(error("1 2 3\n\n2 5\n", "lists"), "bad:2:1: found a blank line, expected user item");
  EXPECT_HAS(error("1 2\r3\n", "lists"), "bad:1:3: found '2\\r3'");
  EXPECT_HAS(error("1\n2 \n", "lists"), "bad: found no ratings");
  test::write_file(folder_ / "lists", "1 2 3 4 5\n");
  ReadOptions options;
  options.times = true;
  EXPECT_HAS(test::error_of([&] { read_ratings(folder_ / "lists", options); }).what(),
             "lists: found lists of items, expected a time of each rating");
  options = test::options_of("lists");
  options.columns.item = "item";
  EXPECT_HAS(test::error_of([&] { read_ratings(folder_ / "lists", options); }).what(),
             "columns: found it with the format lists, which has no header");
  options = {.scale = RatingScale{2, 5, 1}};
  EXPECT_HAS(test::error_of([&] { read_ratings(folder_ / "lists", options); }).what(),
             "found observed pairs, of the value 1, expected a rating from 2 to 5");
}

TEST_F(Malformed, CsvHeaders) {
  EXPECT_HAS(error("who,what,3\n1,2,x\n", "csv"), "bad:2:5: found 'x'");
  EXPECT_HAS(error("who,what,much\n1,2,3\n", "csv"),
             "bad:1:1: found the header 'who,what,much', expected a header with a column for the "
             "user; name columns user, item and rating");
  EXPECT_HAS(error("user,item,note\n1,2,3\n", "csv"), "a column for the rating");
  EXPECT_HAS(error("user,rating\n1,2\n", "csv"), "a column for the item");
  EXPECT_HAS(error("user,item,rating\n", "csv"), "bad: found no ratings");
  EXPECT_HAS(error("user,item,rating", "csv"), "bad: found no ratings");
  EXPECT_HAS(error("user,item,rating,note\n1,2,3,\"open\n1,2,3,x\n", "csv"),
             "bad:2:7: found a quote that is not closed");
  EXPECT_HAS(error("user,item,rating\n\"1,2,3\n", "csv"),
             "bad:2:1: found a quote that is not closed");
  EXPECT_HAS(error("user,item,rating\n\"1\"x,2,3\n", "csv"), "bad:2:1: found '\"1\"x'");
}

TEST_F(Malformed, WhatToDoAboutAFieldThatIsNoNumber) {
  const auto csv = [&](const std::string& line) {
    return error("user,item,rating\n" + line + "\n", "csv");
  };
  EXPECT_HAS(csv("1, 2,3"), "bad:2:3: found ' 2', expected an item id");
  EXPECT_HAS(csv("1, 2,3"), "; take the blank out");
  EXPECT_HAS(csv("1,2, 3"),
             "found ' 3', expected a rating (a finite decimal number); take the blank out");
  EXPECT_HAS(csv("1,2,3 "),
             "bad:2:5: found '3 ', expected a number and ',' or the end of the line; take the "
             "blank out");
  EXPECT_HAS(csv("1,2,3\r1,3,4"), "found '3\\r1', expected a number and");
  EXPECT_HAS(error("user;item;rating\n1 ;2;3\r\n", "csv"), "found '1 ', expected a number and");
  EXPECT_HAS(error("user;item;rating\n1;2;3,5\n", "csv"),
             "bad:2:5: found '3,5', expected a number and ';' or the end of the line; write "
             "decimals with a point, as in 3.5");
  EXPECT_HAS(csv("1,2,\"3,5\""),
             "found '\"3,5\"', expected a number and ',' or the end of the line; write decimals");
  EXPECT_HAS(csv("1,2,3,5"),
             "found another column, expected 3 columns, as in the header; if the "
             "number has a comma, write decimals with a point");
  EXPECT_HAS(csv("1,2,6,170"), "if the number has a comma, take a comma between thousands out");
  EXPECT_HAS(error("1 2 3\n1 3 3,5\n", "triples"),
             "bad:2:5: found '3,5', expected a number and a separator (user item rating); write "
             "decimals with a point");
  EXPECT_HAS(csv("7,7,3\n1_000,2,3"), "; write numbers without marks between their digits");
  EXPECT_HAS(csv("1,2,1_000"),
             "found '1_000', expected a number and ',' or the end of the line; write numbers "
             "without marks");
  EXPECT_HAS(error("1\t2\t3\n1_000\t3\t3\n", "movielens-tab"), "without marks");
}

TEST_F(Malformed, IdsWithFractionsAreNoNamesUnlessItIsSaid) {
  const char* hint = "; if ids are text here, set ids to \"text\"";
  for (const char* id : {"1.5", "1e3"}) {
    EXPECT_HAS(error(fmt::format("user,item,rating\n1,2,3\n1,{},3\n", id), "csv"), hint);
    EXPECT_HAS(error(fmt::format("user,item,rating\n1,2,3\n\"{}\",2,3\n", id), "csv"), hint);
    EXPECT_HAS(error(fmt::format("1 2 3\n1 {} 3\n", id), "triples"), hint);
    EXPECT_HAS(error(fmt::format("1\t2\t3\n{}\t2\t3\n", id), "movielens-tab"), hint);
    EXPECT_HAS(error(fmt::format("1 2\n1 {}\n", id), "pairs"), hint);
  }
  EXPECT_HAS(error("user,item,rating\n12.0,2,3\n", "csv"),
             "found '12.0', expected a number and ',' or the end of the line; write it as 12, or, "
             "if ids are text here, set ids to \"text\"");
}

TEST_F(Malformed, BinaryFilesAreCalledWhatTheyAre) {
  const std::string body(5000, '\x07');
  const std::string parquet = "PAR1" + body + std::string(9, '\0');
  for (const char* format : {"auto", "csv", "triples"}) {
    const std::string message = error(parquet, format, "r.parquet");
    EXPECT_HAS(message,
               "r.parquet: found a Parquet file, expected ratings as text, or npz; write it "
               "as csv in Python: pandas.read_parquet('r.parquet').to_csv(\"ratings.csv\", "
               "index=False)");
    EXPECT_EQ(message.find('\x07'), std::string::npos);
  }
  EXPECT_HAS(error("ARROW1" + body, "auto"), "an Arrow or Feather file");
  EXPECT_HAS(error("\x89HDF\r\n\x1a\n" + body, "auto"), "an HDF5 file");
  EXPECT_HAS(error(std::string("\x80\x05\x95", 3) + body, "auto"), "a pickle");
  EXPECT_HAS(error("\x93NUMPY" + body, "auto"), "a single NumPy array");
  EXPECT_HAS(error(std::string("ab\0cd", 5) + body, "auto"), "found a binary file");
  EXPECT_HAS(error("ORCID,paper,rating\n1,2,3\n", "csv"), "found the header 'ORCID,paper,rating'");
}

TEST_F(Malformed, NetflixRatingsNeedAMovie) {
  EXPECT_HAS(error("5,3,2005-01-01\n", "netflix"), "bad:1:1: found '5', expected a line movie:");
  EXPECT_HAS(error("1:\n5,3,2005-01-01\n2:x\n", "netflix"), "bad:3:3: found 'x'");
  EXPECT_HAS(error("1:\n5,3,2005-01-01\nx:\n6,3,2005-01-01\n", "netflix"), "bad:3:1: found 'x'");
}

TEST_F(Malformed, KddCupCountsMustMatch) {
  const auto told = [&](const std::string& text) { return error(text, "kddcup"); };
  EXPECT_HAS(told("7|2\n1\t90\n8|1\n1\t90\n"),
             "bad:3:1: found 'a line user|count' after 1 ratings of user 7, expected 2");
  EXPECT_HAS(told("7|1\n1\t90\n2\t80\n8|1\n1\t90\n"),
             "bad:3:1: found more than 1 ratings of user 7, expected a line user|count");
  EXPECT_HAS(told("7|2\n1\t90\n"),
             "bad:2:5: found the end of the file after 1 ratings of user 7, expected 2");
  EXPECT_HAS(told("7|2\n1\t90"), "bad:2:5: found the end of the file after 1 ratings");
  EXPECT_HAS(told("1\t90\n"), "bad:1:1: found '1', expected a line user|count");
  EXPECT_HAS(told("7|x\n1\t90\n"), "bad:1:3: found 'x', expected the number of ratings");
  EXPECT_HAS(told("7|1\n1\t90\t5\n"), "bad:2:7: found the end of the line, expected a tab");
}

TEST_F(Malformed, MatrixMarketHeaders) {
  const auto told = [&](const std::string& text) { return error(text, "matrix-market"); };
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  EXPECT_HAS(told("%%MatrixMarket matrix array real general\n1 1\n3\n"),
             "bad:1:1: found a matrix of format 'array', expected 'coordinate'");
  EXPECT_HAS(told("%%MatrixMarket matrix coordinate complex general\n"),
             "found entries of type 'complex', expected 'real', 'integer' or 'pattern'");
  EXPECT_HAS(told("%%MatrixMarket matrix coordinate real skew-symmetric\n"),
             "found a matrix of symmetry 'skew-symmetric', expected 'general' or 'symmetric'");
  EXPECT_HAS(told("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n"),
             "bad:2:1: found 2 rows and 3 columns, expected as many of each");
  EXPECT_HAS(told("%%MatrixMarket vector coordinate real general\n"), "'vector'");
  EXPECT_HAS(told("1 1 3\n"), "bad:1:1: found '1 1 3', expected the banner");
  EXPECT_HAS(told(real), "bad:2:1: found the end of the file");
  EXPECT_HAS(told(real + "% only comments\n"), "bad:3:1: found the end of the file");
  EXPECT_HAS(told(real + "3 x 1\n"), "bad:2:3: found 'x', expected the number of columns");
  EXPECT_HAS(told(real + "3 3\n"), "bad:2:4: found the end of the line");
  EXPECT_HAS(told(real + "3 3 1 1\n"), "bad:2:7: found '1'");
  EXPECT_HAS(told(real + "3 2147483648 1\n"), "bad:2:3: found '2147483648'");
}

TEST_F(Malformed, MatrixMarketPatternsAndSymmetricMatrices) {
  const auto told = [&](const std::string& text) { return error(text, "matrix-market"); };
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern general\n";
  EXPECT_HAS(told(pattern + "3 4 1\n1 1 1\n"), "bad:3:5: found '1', expected the end of the line");
  EXPECT_HAS(told(pattern + "3 4 1\n1\n"),
             "bad:3:2: found the end of the line, expected another column (row column)");
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  EXPECT_HAS(told(symmetric + "3 3 1\n1 2 5\n"),
             "bad:3:1: found '1', expected an entry on or below the diagonal");
  EXPECT_HAS(told(symmetric + "3 3 1\n2 1\n"),
             "bad:3:4: found the end of the line, expected another column (row column value)");
}

TEST_F(Malformed, MatrixMarketSizesMustMatch) {
  const auto told = [&](const std::string& text) { return error(text, "matrix-market"); };
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  EXPECT_HAS(told(real + "3 4 2\n1 1 1\n4 1 1\n"),
             "bad:4:1: found '4', expected a row from 1 to 3");
  EXPECT_HAS(told(real + "3 4 2\n1 1 1\n3 5 1\n"),
             "bad:4:3: found '5', expected a column from 1 to 4");
  EXPECT_HAS(told(real + "3 4 2\n0 1 1\n3 4 1\n"), "bad:3:1: found '0'");
  EXPECT_HAS(told(real + "3 4 2\n1 1 1\n"),
             "bad:3:6: found the end of the file after 1 entries, expected 2");
  EXPECT_HAS(told(real + "3 4 1\n1 1 1\n1 2 1\n"), "bad:4:1: found more than 1 entries");
  EXPECT_HAS(told(real + "3 4 0\n"), "bad: found no ratings");
  EXPECT_HAS(told("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 2.5\n"),
             "bad:3:5: found '2.5', expected an integer");
}

TEST_F(Malformed, DetectionSaysWhatItLookedAt) {
  const std::string message = error("hello world\n", "auto", "odd.dat");
  EXPECT_HAS(message, "odd.dat: found the extension '.dat' and the first line 'hello world'");
  EXPECT_HAS(message, "set format to \"movielens-tab\", \"double-colon\"");
}

TEST_F(Malformed, UnknownFormat) {
  const Error e = test::error_of([&] { read_ratings("x", test::options_of("double-colons")); });
  EXPECT_EQ(e.kind(), ErrorKind::usage);
  EXPECT_HAS(e.what(), "did you mean 'double-colon'?");
}

}  // namespace
}  // namespace mf
