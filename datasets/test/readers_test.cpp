// Files that are as they should be: every format reads back the written ratings, for any cut into
// chunks and any number of threads.
#include "datasets/readers/readers.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <thread>

#include "datasets/readers/archive_reader.hpp"
#include "testing/reader_support.hpp"

namespace mf {
namespace {

using test::TempFolder;
using test::TextFormat;

class EveryTextFormat : public testing::TestWithParam<TextFormat> {
 protected:
  test::RatingList read(const std::string& text, int threads = 1, std::size_t chunk = 1 << 20,
                        const std::string& format = "") {
    if (text != written_) {
      path_ = test::fresh_file(folder_, text);
      written_ = text;
    }
    auto options = test::options_of(format.empty() ? GetParam().name : format, threads);
    options.ids = ids_;
    return test::list_of(read_ratings_chunked(path_, options, chunk));
  }
  test::RatingList random(std::uint64_t seed, std::size_t count, int users, int items) {
    return test::in_file_order(GetParam(), test::random_ratings(seed, count, users, items));
  }
  TempFolder folder_;
  IdKind ids_ = IdKind::automatic;

 private:
  std::string path_;
  std::string written_ = "nothing";
};

INSTANTIATE_TEST_SUITE_P(Formats, EveryTextFormat, testing::ValuesIn(test::text_formats()),
                         test::name_of);

TEST_P(EveryTextFormat, ReadsBackWhatWasWrittenWhereverChunksAreCut) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto ratings = random(seed, 12, 5, 4);
    const std::string text = test::text_of(GetParam(), ratings);
    for (std::size_t chunk = 1; chunk <= text.size(); ++chunk) {
      test::expect_same(read(text, 1 + static_cast<int>(chunk % 3), chunk), ratings);
      if (HasFatalFailure()) FAIL() << "chunk of " << chunk << " bytes of\n" << text;
    }
  }
}

TEST_P(EveryTextFormat, LargeRandomMatricesForAnyNumberOfThreads) {
  Rng rng(99);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto ratings = random(seed, 3000, 400, 2147483647);
    const std::string text = test::text_of(GetParam(), ratings);
    for (const int threads : {1, 2, 3}) {
      test::expect_same(read(text, threads, 1 + rng.below(5000)), ratings);
    }
  }
}

TEST_P(EveryTextFormat, GivesTheSameMatrixAsEveryOtherFormat) {
  const auto ratings = test::random_ratings(8, 500, 60, 40);
  const auto matrix = [](const test::RatingList& list) {
    return content_hash(make_ratings(test::raw_of(list), DuplicatePolicy::last, 2, "test"), 1);
  };
  const std::string text = test::text_of(GetParam(), test::in_file_order(GetParam(), ratings));
  EXPECT_EQ(matrix(read(text, 2, 100)), matrix(ratings));
}

TEST_P(EveryTextFormat, AcceptsOtherLineEnds) {
  const auto ratings = random(3, 9, 5, 4);
  const std::string text = test::text_of(GetParam(), ratings);
  const std::string no_newline = text.substr(0, text.size() - 1);
  const std::string crlf = test::replaced(text, {{"\n", "\r\n"}});
  const std::string crlf_no_newline = crlf.substr(0, crlf.size() - 2);
  for (const std::string& body : {text, no_newline, crlf, crlf_no_newline}) {
    for (const std::string& before : {std::string(), std::string("\xef\xbb\xbf")}) {
      for (const char* after : {"", "\n", "\n\n\n", "\r\n\r\n", "\n \t\n"}) {
        for (const std::size_t chunk : {1U, 7U, 1000U}) {
          test::expect_same(read(before + body + after, 2, chunk), ratings);
          if (HasFatalFailure()) FAIL() << test::replaced(before + body + after, {{"\r", "\\r"}});
        }
      }
    }
  }
}

TEST_P(EveryTextFormat, IsDetected) {
  const auto ratings = random(3, 9, 5, 4);
  const std::string text = test::text_of(GetParam(), ratings);
  test::expect_same(read(text, 1, 1000, "auto"), ratings);
  test::expect_same(read(test::replaced(text, {{"\n", "\r\n"}}), 1, 1000, "auto"), ratings);
}

TEST_P(EveryTextFormat, AFileThatFillsItsLastPageIsReadToItsEnd) {
  // The mapping of such a file has no byte behind its end.
  const auto ratings = random(3, 2000, 5, 4);
  std::string text = test::text_of(GetParam(), ratings);
  // Every line in the second half starts with an id, which may have leading zeros.
  for (std::size_t at = text.size() / 2; text.size() % 4096 != 1;) {
    at = text.find('\n', at) + 1;
    text.insert(at, std::min<std::size_t>(12, 4096 - (text.size() - 1) % 4096), '0');
  }
  text.pop_back();  // the newline
  ASSERT_EQ(text.size() % 4096, 0U);
  ids_ = IdKind::integers;
  test::expect_same(read(text, 2), ratings);
}

TEST_P(EveryTextFormat, ACutFileIsAnErrorOrAPrefix) {
  const auto ratings = random(6, 8, 5, 4);
  const std::string text = test::text_of(GetParam(), ratings);
  for (std::size_t size = 0; size < text.size(); ++size) {
    try {
      const auto found = read(text.substr(0, size), 2, 9);
      // A cut inside the last field cannot be seen: all ratings before that line are right.
      ASSERT_LE(found.size(), ratings.size());
      for (std::size_t k = 0; k + 1 < found.size(); ++k) {
        ASSERT_TRUE(test::same(found[k], ratings[k])) << text.substr(0, size);
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::data) << error.what();
      EXPECT_HAS(error.what(), "found ");
      EXPECT_HAS(error.what(), ", expected ");
    }
  }
}

// ---- inputs that single formats accept ----

class Readers : public testing::Test {
 protected:
  test::RatingList read(const std::string& text, const std::string& format = "auto",
                        const std::string& name = "ratings") {
    test::write_file(folder_ / name, text);
    return test::list_of(read_ratings(folder_ / name, test::options_of(format, 2)));
  }
  TempFolder folder_;
};

TEST_F(Readers, FormatsAreListed) {
  std::set<std::string> names;
  for (const auto& format : reader_formats()) {
    names.insert(format.name);
    EXPECT_FALSE(format.help.empty());
  }
  EXPECT_EQ(names, (std::set<std::string>{"movielens-tab", "double-colon", "csv", "triples",
                                          "json-lines", "pairs", "lists", "netflix", "kddcup",
                                          "matrix-market", "npz", "npy"}));
}

TEST_F(Readers, TheTimeIsOptional) {
  const test::RatingList expected = {{1, 2, 3.5F}, {4, 5, 1}};
  test::expect_same(read("1\t2\t3.5\t881250949\n4\t5\t1\t881250950\n"), expected);
  test::expect_same(read("1\t2\t3.5\n4\t5\t1\n"), expected);
  test::expect_same(read("1::2::3.5::881250949\n4::5::1::2\n"), expected);
  test::expect_same(read("1::2::3.5\n4::5::1\n"), expected);
}

TEST_F(Readers, IntegersMayHaveLeadingZeros) {
  const auto integers = [&](const std::string& text) {
    ReadOptions options;
    options.ids = IdKind::integers;
    return test::list_of(read_ratings(test::fresh_file(folder_, text), options));
  };
  test::expect_same(integers("1::0114508::8::1381006850\n"), {{1, 114508, 8}});
  test::expect_same(integers("1 00000000000000000000000000000012 8\n"), {{1, 12, 8}});
  test::expect_same(read("0 2147483647 8\n"), {{0, 2147483647, 8}});
}

TEST_F(Readers, TriplesMayBeSeparatedByAnyBlanks) {
  test::expect_same(read("  1 \t 2   3.5  \n4\t5\t-1 \t\r\n", "triples"),
                    {{1, 2, 3.5F}, {4, 5, -1}});
  test::expect_same(read(" 1 2\t3.5\n4 5 -1\n"), {{1, 2, 3.5F}, {4, 5, -1}});
}

TEST_F(Readers, ObservedPairsHaveTheValueOne) {
  const test::RatingList expected = {{0, 2, 1}, {4, 0, 1}};
  for (const char* format : {"auto", "pairs"}) {
    test::expect_same(read("0\t2\n4\t0\n", format), expected);
    test::expect_same(read(" 0 \t2  \r\n4 0", format), expected);
  }
  const std::string path = test::fresh_file(folder_, "bob 2\nann 1\n");
  const RawRatings named = read_ratings(path, test::options_of("pairs"));
  EXPECT_EQ(named.user_names[named.users[0]], "bob");
  EXPECT_EQ(named.values[1], 1);
}

// 60 users of 15 items each; the same with a user without items, and with blanks of all kinds.
TEST_F(Readers, ListsAreDetectedAndReadWhereverChunksAreCut) {
  std::string plain, strange;
  test::RatingList expected;
  for (int user = 1; user <= 60; ++user) {
    plain += std::to_string(user);
    strange += (user % 2 == 0 ? " " : "") + std::to_string(user);
    for (int item = 0; item < 15; ++item) {
      expected.push_back({user, 1 + (7 * user + 11 * item) % 40, 1});
      plain += " " + std::to_string(expected.back().item);
      strange += (item % 2 == 0 ? "\t" : "  ") + std::to_string(expected.back().item);
    }
    plain += "\n";
    strange += user % 3 == 0 ? " \r\n" : "\n";
    if (user == 3) strange += "61\n62 \n";
  }
  for (const std::string& text : {plain, strange, strange + "63", "64\r\n" + plain + "\n\n"}) {
    const std::string path = test::fresh_file(folder_, text);
    EXPECT_EQ(look_at_ratings(path, {}).format, "lists");
    test::expect_same(test::list_of(read_ratings(path, {})), expected);
    for (std::size_t chunk = 1; chunk < text.size(); chunk += 1 + chunk / 9) {
      const int threads = 1 + static_cast<int>(chunk % 3);
      const auto options = test::options_of("lists", threads);
      test::expect_same(test::list_of(read_ratings_chunked(path, options, chunk)), expected);
    }
  }
}

TEST_F(Readers, OnlyLinesOfDistinctUsersAreListsByThemselves) {
  const auto format = [&](const std::string& text) {
    testing::internal::CaptureStderr();
    std::string found = look_at_ratings(test::fresh_file(folder_, text), {}).format;
    const std::string said = testing::internal::GetCapturedStderr();
    return found + (said.find("set format to \"lists\"") == said.npos ? "" : ", doubted");
  };
  EXPECT_EQ(format("1 2 3 4 5\n2 3\n"), "lists");
  EXPECT_EQ(format("1 5 7\n2 5 9\n3 7 9\n4 5 10\n"), "triples, doubted");
  EXPECT_EQ(format("1 5 7\n2 5 9\n3 7 9\n"), "triples");          // three lines say little
  EXPECT_EQ(format("1 5 7\n2 5 9\n3 7 9\n4 50 9\n"), "triples");  // a rating below its item
  EXPECT_EQ(format("1 5 7\n2 5 9\n3 7 9\n1 6 9\n"), "triples");   // a user again
  EXPECT_EQ(format("1 2\n2 3\n3 4\n4 5\n"), "pairs");
  const std::string again = test::fresh_file(folder_, "1 2 3 4 5\n1 6 7 8 9\n");
  EXPECT_HAS(test::error_of([&] { read_ratings(again, {}); }).what(),
             "\"pairs\", \"lists\", \"netflix\"");
  EXPECT_EQ(read_ratings(again, test::options_of("lists")).values.size(), 8U);
}

TEST_F(Readers, NumbersAreRoundedAsTheStandardLibraryDoes) {
  const std::vector<std::string> numbers = {
      "0",     "5",         "-0.5",      ".5",       "5.",         "1e3",          "1.5E-3",
      "0.1",   "3.3333333", "16777217",  "0.000001", "9999999",    "99999.99",     "0.3000000119",
      "1e-45", "3.4028e38", "-7.25e-12", "12345.67", "0000000000", "123456789012", "0.00000001",
      "1e-50", "-1e-200"};
  for (const auto& number : numbers) {
    const auto found = read("1 2 " + number + "\n", "triples");
    ASSERT_EQ(found.size(), 1U) << number;
    EXPECT_EQ(found[0].value, std::strtof(number.c_str(), nullptr)) << number;
  }
}

TEST_F(Readers, CsvColumnsAreFoundByName) {
  const test::RatingList expected = {{1, 2, 3.5F}, {4, 5, 1}};
  test::expect_same(read("userId,movieId,rating,timestamp\n1,2,3.5,9\n4,5,1,9\n"), expected);
  test::expect_same(read("timestamp,SCORE,Item_ID,user\n9,3.5,2,1\n9,1,5,4\n"), expected);
  test::expect_same(
      read("\"User-ID\";\"title\";\"Book-ID\";\"Rating\"\n\"1\";\"a;b\";\"2\";\"3.5\"\n"
           "4;\"say \"\"hi\"\"\";5;1\n"),
      expected);
  test::expect_same(read("user_id\titem_id\trating\n1\t2\t3.5\n4\t5\t1\n"), expected);
  test::expect_same(read("uid,iid,stars\n1,2,3.5\n4,5,1", "csv"), expected);
  test::expect_same(read("user,item,rating,note\n1,2,3.5,\n4,5,1,", "auto", "x.csv"), expected);
}

TEST_F(Readers, NetflixFolderOfManyOrFewFiles) {
  test::RatingList expected;
  for (int movie = 1; movie <= 30; ++movie) {
    std::string text = fmt::format("{}:\n", movie);
    for (int user = 1; user <= movie % 4; ++user) {
      text += fmt::format("{},{},2005-09-06\n", 100 * user, 1 + user % 5);
      expected.push_back({100 * user, movie, static_cast<float>(1 + user % 5)});
    }
    test::write_file(folder_ / fmt::format("mv/mv_{:07}.txt", movie), text);
  }
  test::write_file(folder_ / "mv/README", "not a rating");
  for (const int threads : {1, 3, 16}) {
    for (const char* format : {"auto", "netflix"}) {
      test::expect_same(
          test::list_of(read_ratings(folder_ / "mv", test::options_of(format, threads))), expected);
    }
  }
  test::write_file(folder_ / "combined/combined_data_2.txt", "7:\n8,2,2005-01-01\n");
  test::write_file(folder_ / "combined/combined_data_1.txt", "5:\n6:\n9,1,2005-01-01\n");
  test::expect_same(test::list_of(read_ratings(folder_ / "combined", test::options_of("auto", 2))),
                    {{9, 6, 1}, {8, 7, 2}});
}

TEST_F(Readers, ATimeOfTheDayIsNoMovie) {
  const std::string text =
      "1:\n1,4,2005-09-06 12:30:00\n2,5,2005-09-06 12:30:00\n3,5,2005-09-06 12:30:00\n"
      "7:\r\n1,4,2005-09-06 12:30:00\n3,2,2005-09-06 12:30:00\n";
  const test::RatingList expected = {{1, 1, 4}, {2, 1, 5}, {3, 1, 5}, {1, 7, 4}, {3, 7, 2}};
  test::write_file(folder_ / "r.txt", text);
  for (const bool times : {false, true}) {
    ReadOptions options = test::options_of("netflix", 2);
    options.times = times;
    for (std::size_t chunk = 1; chunk < text.size() + 2; ++chunk) {
      test::expect_same(test::list_of(read_ratings_chunked(folder_ / "r.txt", options, chunk)),
                        expected);
    }
  }
}

// Left out, a header that is damaged would give its ratings to the movie or user before it.
TEST_F(Readers, NoLineOfGroupsIsLeftOut) {
  for (const auto& [format, text] :
       {std::pair("netflix", "1:\n1,4,2005-09-06\n2x:\n2,5,2005-09-06\n"),
        std::pair("kddcup", "1|1\n1\t90\n2|-1\n1\t80\n")}) {
    ReadOptions options = test::options_of(format, 2);
    options.leave_out_damaged = true;
    test::write_file(folder_ / "r.txt", text);
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 22}) {
      const Error error =
          test::error_of([&] { read_ratings_chunked(folder_ / "r.txt", options, chunk); });
      EXPECT_HAS(error.what(), "r.txt:3:");
    }
  }
}

TEST_F(Readers, NetflixProbeLabelsTheRatingsItLists) {
  const auto raw =
      read("1:\n10,1,2005-01-01\n20,2,2005-01-01\n2:\n10,3,2005-01-01\n30,4,2005-01-01\n");
  const Ratings ratings = make_ratings(test::raw_of(raw), DuplicatePolicy::error, 1, "test");
  test::write_file(folder_ / "probe.txt", "1:\n20\n2:\n10\n30\n");
  for (const int threads : {1, 2, 3}) {
    for (std::size_t chunk = 1; chunk < 20; ++chunk) {
      const auto parts =
          netflix_probe_parts_chunked(ratings, folder_ / "probe.txt", {threads, chunk});
      // user 10: items 1, 2; user 20: item 1; user 30: item 2
      EXPECT_EQ(std::vector<int>(parts.begin(), parts.end()),
                (std::vector<int>{kTrain, kTest, kTest, kTest}));
    }
  }
  test::write_file(folder_ / "probe.txt", "1:\n20\n30\n2:\n10\n");
  const Error error =
      test::error_of([&] { netflix_probe_parts(ratings, folder_ / "probe.txt", 2); });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_HAS(error.what(), "probe.txt:3:1: found '30', expected a customer who rated movie 1");
}

TEST_F(Readers, MatrixMarketIntegerAndComments) {
  test::expect_same(
      read("%%MATRIXMARKET Matrix Coordinate Integer General\n%\n%x\n\n 3 4  2 \n1 4 5\n3 "
           "1 -2\n"),
      {{1, 4, 5}, {3, 1, -2}});
}

TEST_F(Readers, MatrixMarketPatternsAreObservedPairs) {
  test::expect_same(read("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n2 1\n1 3 \n"),
                    {{2, 1, 1}, {1, 3, 1}});
}

TEST_F(Readers, MatrixMarketSymmetricEntriesStandOnBothSides) {
  test::expect_same(
      read("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 4\n2 1 5\n3 2 1\n"),
      {{1, 1, 4}, {2, 1, 5}, {3, 2, 1}, {1, 2, 5}, {2, 3, 1}});
  test::expect_same(read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"),
                    {{2, 1, 1}, {1, 2, 1}});
}

TEST_F(Readers, ScaleAcceptsWhatLiesOnIt) {
  ReadOptions options = test::options_of("triples");
  const auto count = [&](const std::string& text, RatingScale scale) {
    test::write_file(folder_ / "r", text);
    options.scale = scale;
    return read_ratings(folder_ / "r", options).values.size();
  };
  EXPECT_EQ(count("1 1 0.5\n1 2 5\n1 3 3.5\n", {0.5F, 5, 0.5F}), 3U);
  EXPECT_EQ(count("1 1 0.1\n1 2 0.3\n1 3 0.7\n1 4 1\n", {0.1F, 1, 0.1F}), 4U);
  EXPECT_EQ(count("1 1 -10\n1 2 9.97\n", {-10, 10, 0}), 2U);
  EXPECT_EQ(count("1 1 0\n1 2 100\n", {0, 100, 1}), 2U);
}

TEST_F(Readers, APipeIsReadToItsEnd) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto ratings = test::random_ratings(1, 50000, 1000, 1000);
  std::thread writer(
      [&] { test::write_file(pipe, test::text_of(test::text_formats()[0], ratings)); });
  const RawRatings raw = read_ratings(pipe, test::options_of("auto", 2));
  writer.join();
  test::expect_same(test::list_of(raw), ratings);
}

// ---- npy and npz ----

template <class Id, class Value>
void expect_numpy_reads(const TempFolder& folder, const std::string& id_type,
                        const std::string& value_type) {
  const auto ratings = test::random_ratings(5, 300, 100, 100);
  std::vector<Id> users;
  std::vector<Id> items;
  std::vector<Value> values;
  test::RatingList expected;
  for (const Rating& r : ratings) {
    users.push_back(static_cast<Id>(r.user));
    items.push_back(static_cast<Id>(r.item));
    values.push_back(static_cast<Value>(r.user % 5 + 1));
    expected.push_back({r.user, r.item, static_cast<float>(r.user % 5 + 1)});
  }
  const std::string u = test::npy_of(id_type, users);
  const std::string i = test::npy_of(id_type, items);
  const std::string r = test::npy_of(value_type, values);
  test::write_file(folder / "set/users.npy", u);
  test::write_file(folder / "set/items.npy", i);
  test::write_file(folder / "set/ratings.npy", r);
  // A first member of odd length leaves the arrays unaligned in the archive.
  test::write_file(
      folder / "set.npz",
      test::zip_of({{"note.txt", "odd"}, {"users.npy", u}, {"items.npy", i}, {"ratings.npy", r}}));
  for (const int threads : {1, 2, 3}) {
    for (const auto& [name, format] : {std::pair("set", "npy"), std::pair("set", "auto"),
                                       std::pair("set.npz", "npz"), std::pair("set.npz", "auto")}) {
      if (!have_libarchive() && std::string(name) == "set.npz") continue;  // Compressed checks that
      test::expect_same(
          test::list_of(read_ratings(folder / name, test::options_of(format, threads))), expected);
    }
  }
}

TEST_F(Readers, NumpyTypes) {
  expect_numpy_reads<std::int8_t, std::int8_t>(folder_, "|i1", "<i1");
  expect_numpy_reads<std::uint8_t, std::uint8_t>(folder_, "|u1", "|u1");
  expect_numpy_reads<std::int16_t, std::int16_t>(folder_, "<i2", "<i2");
  expect_numpy_reads<std::uint16_t, std::uint16_t>(folder_, "<u2", "<u2");
  expect_numpy_reads<std::int32_t, std::int32_t>(folder_, "<i4", "<i4");
  expect_numpy_reads<std::uint32_t, std::uint32_t>(folder_, "<u4", "<u4");
  expect_numpy_reads<std::int64_t, std::int64_t>(folder_, "<i8", "<i8");
  expect_numpy_reads<std::uint64_t, std::uint64_t>(folder_, "<u8", "<u8");
  expect_numpy_reads<std::int32_t, float>(folder_, "<i4", "<f4");
  expect_numpy_reads<std::int64_t, double>(folder_, "<i8", "<f8");
}

// ---- compression ----

test::RatingList fixture_ratings(int times = 1) {
  test::RatingList list;
  for (int at = 0; at < 40 * times; ++at) {
    const int k = at % 40 + 1;
    list.push_back({k, k * 7 % 10 + 1, static_cast<float>(k % 5 + 1)});
  }
  return list;
}

// These ratings, or an error of the data.
void expect_read_or_refused(const TempFolder& folder, const std::string& bytes,
                            const test::RatingList& expected) {
  const std::string path = test::fresh_file(folder, bytes);
  try {
    test::expect_same(test::list_of(read_ratings(path, {})), expected);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
  }
}

Error refusal_of(const TempFolder& folder, const std::string& bytes) {
  const std::string path = test::fresh_file(folder, bytes);
  const Error error = test::error_of([&] { read_ratings(path, {}); });
  EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
  return error;
}

class Compressed : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (have_libarchive()) return;
    test::write_file(folder_ / "ratings", test::packed(GetParam()));
    const Error error = test::error_of([&] { read_ratings(folder_ / "ratings", {}); });
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_HAS(error.what(), "install libarchive-dev");
    EXPECT_HAS(error.what(), "decompress the file");
    GTEST_SKIP() << "built without libarchive: only the error was checked";
  }
  TempFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Compressed, testing::Values("gz", "zip", "npz", "xz", "zst", "bz2"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(Compressed, IsReadWhateverItsName) {
  const std::string bytes = test::packed(GetParam());
  test::write_file(folder_ / "ratings", bytes);
  const std::string named = folder_ / "ratings." + GetParam();
  test::write_file(named, bytes);
  for (const std::string& path : {folder_ / "ratings", named}) {
    for (const int threads : {1, 2}) {
      test::expect_same(
          test::list_of(read_ratings_chunked(path, test::options_of("auto", threads), 50)),
          fixture_ratings());
    }
  }
}

TEST_P(Compressed, CutAnywhereIsAnError) {
  const std::string bytes = test::packed(GetParam());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    refusal_of(folder_, bytes.substr(0, size));
    if (HasFailure()) FAIL() << "cut to " << size << " of " << bytes.size() << " bytes";
  }
}

TEST_P(Compressed, AChangedByteIsNeverReadAsOtherRatings) {
  const std::string bytes = test::packed(GetParam());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    expect_read_or_refused(folder_, damaged, fixture_ratings());
    if (HasFailure()) FAIL() << "byte " << at;
  }
}

class Archives : public Readers {
 protected:
  void SetUp() override {
    if (!have_libarchive()) GTEST_SKIP() << "built without libarchive";
  }
};

TEST_F(Archives, GzipMembersFollowOneAnother) {
  const std::string bytes = test::packed("gz");
  const auto twice = fixture_ratings(2);
  test::expect_same(read(bytes + bytes), twice);
  // The second member is cut, in its header, its data or its trailer; or something else follows.
  for (const std::string& damaged :
       {bytes + bytes.substr(0, 1), bytes + bytes.substr(0, 9), bytes + bytes.substr(0, 50),
        bytes + bytes.substr(0, bytes.size() - 1), bytes + "what is this?"}) {
    const Error error = refusal_of(folder_, damaged);
    EXPECT_HAS(error.what(), ": found gzip data that is damaged");
    EXPECT_HAS(error.what(), "cut short");
  }
}

TEST_F(Archives, ZstdMayBeginWithFramesThatAreSkipped) {
  const std::string bytes = test::packed("zst");
  const std::string frame(
      "\x5f\x2a\x4d\x18\x03\x00\x00\x00"
      "abc",
      11);
  test::expect_same(read(frame + frame + bytes), fixture_ratings());
  for (const std::string& cut : {frame, frame + frame.substr(0, 9), frame + bytes.substr(0, 20)}) {
    refusal_of(folder_, cut);
  }
}

// libarchive's own reader ends silently at the first bytes that are not a stream.
TEST_F(Archives, Bzip2StreamsFollowOneAnother) {
  const std::string bytes = test::packed("bz2");
  const auto twice = fixture_ratings(2);
  test::expect_same(read(bytes + bytes), twice);
  std::string damaged = bytes + bytes;
  for (std::size_t at = bytes.size(); at < damaged.size(); ++at) {
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    expect_read_or_refused(folder_, damaged, twice);
    if (HasFailure()) FAIL() << "byte " << at;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
  }
  for (const std::string& more :
       {std::string("what is this?"), bytes.substr(0, 1), bytes.substr(0, bytes.size() - 1)}) {
    EXPECT_HAS(refusal_of(folder_, bytes + more).what(), "found bzip2 data that is damaged");
  }
}

TEST_F(Archives, ZipOfSeveralFilesIsRefused) {
  test::write_file(folder_ / "a.zip", test::zip_of({{"a", "1 2 3\n"}, {"b", "1 2 3\n"}}));
  const Error error = test::error_of([&] { read_ratings(folder_ / "a.zip", {}); });
  EXPECT_HAS(error.what(), "a.zip: found an archive of 2 files, expected an archive of one file");
  test::write_file(folder_ / "b.zip", test::zip_of({{"dir/", ""}, {"dir/a", "1 2 3\n"}}));
  test::expect_same(test::list_of(read_ratings(folder_ / "b.zip", {})), {{1, 2, 3}});
  std::string utf8_name = test::zip_of({{"r\xc3\xa4ting", "1 2 3\n"}});
  utf8_name[7] = utf8_name[utf8_name.find("PK\x01\x02") + 9] = 8;  // the flag says so
  test::write_file(folder_ / "c.zip", utf8_name);
  test::expect_same(test::list_of(read_ratings(folder_ / "c.zip", {})), {{1, 2, 3}});
}

}  // namespace
}  // namespace mf
