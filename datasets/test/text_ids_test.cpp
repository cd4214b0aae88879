// Ids that are text: read from every form that may have them, numbered by the order of their bytes,
// and kept through caches, given parts and implicit feedback.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "datasets/cache.hpp"
#include "datasets/implicit_rule.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/split/given_parts.hpp"
#include "testing/reader_support.hpp"

namespace mf {
namespace {

using test::error_of;
using test::TempFolder;
using test::write_file;

struct Line {
  std::string user, item;
  float value = 0;
};
using Lines = std::vector<Line>;
using Table = std::map<std::pair<std::string, std::string>, float>;

std::vector<std::string> list_of(const IdNames& names) {
  std::vector<std::string> list;
  for (std::int64_t k = 0; k < names.size(); ++k) list.emplace_back(names[k]);
  return list;
}

Table table_of(const Ratings& ratings) {
  Table table;
  for (std::int64_t k = 0; k < ratings.nnz(); ++k) {
    const Rating r = ratings[k];
    const auto name = [](const IdNames& names, View<const std::int32_t> ids, std::int32_t row) {
      return names.empty() ? std::to_string(ids[row]) : std::string(names[row]);
    };
    table[{name(ratings.user_names(), ratings.user_ids(), r.user),
           name(ratings.item_names(), ratings.item_ids(), r.item)}] = r.value;
  }
  return table;
}

class TextIds : public testing::Test {
 protected:
  RawRatings read_raw(const std::string& text, const std::string& format, IdKind ids,
                      std::size_t chunk, int threads) {
    const std::string path = folder_ / "ratings";
    write_file(path, text);
    ReadOptions options = test::options_of(format, threads);
    options.ids = ids;
    return read_ratings_chunked(path, options, chunk);
  }

  Ratings read(const std::string& text, const std::string& format, IdKind ids = IdKind::automatic,
               std::size_t chunk = 1 << 20, int threads = 1) {
    return make_ratings(read_raw(text, format, ids, chunk, threads), DuplicatePolicy::error,
                        threads, "test");
  }

  std::string error(const std::string& text, const std::string& format,
                    IdKind ids = IdKind::automatic) {
    const Error e = error_of([&] { read(text, format, ids, 7, 2); });
    EXPECT_EQ(e.what(), std::string(error_of([&] { read(text, format, ids); }).what()));
    return e.what();
  }

  Dataset dataset(const std::string& text, const std::string& format) {
    Dataset data;
    data.ratings = read(text, format);
    return data;
  }

  TempFolder folder_;
};

const Lines kLines = {{"bob", "B000123", 4},     {"alice", "017", 2}, {"zoë", "B000123", 1},
                      {"alice", "B000123", 5},   {"Bob", "17", 3},    {"bob", "日本", 2.5F},
                      {"12", "a.b-c_d@e", 1.5F}, {"bob", "123", 1}};

std::string text_of(const Lines& lines, const std::string& before, const std::string& between,
                    const std::string& after = "") {
  std::string text = before;
  for (const Line& line : lines) {
    text +=
        line.user + between + line.item + between + fmt::format("{}", line.value) + after + "\n";
  }
  return text;
}

TEST_F(TextIds, EveryFormatThatMayHaveThemForAnyChunksAndThreads) {
  const std::map<std::string, std::string> texts = {
      {"csv", text_of(kLines, "user,item,rating,note\n", ",", ",\"x, \"\"y\"\"\"")},
      {"movielens-tab", text_of(kLines, "", "\t", "\t881250949")},
      {"double-colon", text_of(kLines, "", "::")},
      {"triples", text_of(kLines, "", " ")}};
  Table expected;
  std::set<std::string> users, items;
  for (const Line& line : kLines) {
    expected[{line.user, line.item}] = line.value;
    users.insert(line.user);
    items.insert(line.item);
  }
  std::set<std::uint64_t> hashes;
  for (const auto& [format, text] : texts) {
    for (std::size_t chunk = 1; chunk < text.size(); chunk += 3) {
      const Ratings ratings =
          read(text, format, IdKind::automatic, chunk, 1 + static_cast<int>(chunk % 3));
      ASSERT_EQ(table_of(ratings), expected) << format << ", chunks of " << chunk;
      EXPECT_EQ(list_of(ratings.user_names()), std::vector(users.begin(), users.end()));
      EXPECT_EQ(list_of(ratings.item_names()), std::vector(items.begin(), items.end()));
      for (std::int32_t u = 0; u < ratings.n_users(); ++u) EXPECT_EQ(ratings.user_ids()[u], u);
      hashes.insert(content_hash(ratings, 1));
    }
    const Ratings by_itself = read(text, format == "csv" ? "csv" : "auto");
    EXPECT_EQ(table_of(by_itself), expected) << format;
  }
  EXPECT_EQ(hashes.size(), 1U);
}

TEST_F(TextIds, ListsMayHaveThem) {
  const std::string text = "zoë\nbob x 017 日本\nalice x\n";
  const Table expected = {
      {{"bob", "x"}, 1}, {{"bob", "017"}, 1}, {{"bob", "日本"}, 1}, {{"alice", "x"}, 1}};
  for (std::size_t chunk = 1; chunk < text.size(); ++chunk) {
    const Ratings ratings = read(text, "lists", IdKind::automatic, chunk, 2);
    EXPECT_EQ(table_of(ratings), expected);
    EXPECT_EQ(list_of(ratings.user_names()), (std::vector<std::string>{"alice", "bob"}));
  }
  EXPECT_EQ(table_of(read("1 2 3\n", "lists", IdKind::text)),
            (Table{{{"1", "2"}, 1}, {{"1", "3"}, 1}}));
}

TEST_F(TextIds, ManyNamesAreAsASetOrdersThem) {
  Rng rng(5);
  Lines lines;
  std::set<std::string> users;
  std::set<std::pair<std::string, std::string>> seen;
  for (int k = 0; k < 4000; ++k) {
    Line line{fmt::format("u{:x}", rng.below(900)), fmt::format("{}i", rng.below(70)), 3};
    if (!seen.insert({line.user, line.item}).second) continue;
    users.insert(line.user);
    lines.push_back(line);
  }
  const Ratings ratings =
      read(text_of(lines, "", "\t"), "movielens-tab", IdKind::automatic, 900, 2);
  EXPECT_EQ(list_of(ratings.user_names()), std::vector(users.begin(), users.end()));
  EXPECT_EQ(table_of(ratings).size(), lines.size());
  for (std::int64_t k = 0; k < ratings.user_names().size(); ++k) {
    EXPECT_EQ(ratings.user_names().find(ratings.user_names()[k]), k);
  }
  EXPECT_EQ(ratings.user_names().find("u"), -1);
  EXPECT_EQ(ratings.user_names().find("~"), -1);
}

TEST_F(TextIds, QuotesOfCsvAreNoPartOfAName) {
  const Ratings ratings = read(
      "rating;user_id;item\n5;\"Smith; John\";\"say \"\"hi\"\"\"\n4;\"alice\";x\n3;alice;\"y\"\r\n",
      "csv");
  EXPECT_EQ(list_of(ratings.user_names()), (std::vector<std::string>{"Smith; John", "alice"}));
  EXPECT_EQ(list_of(ratings.item_names()), (std::vector<std::string>{"say \"hi\"", "x", "y"}));
  EXPECT_HAS(error("user,item,rating\n\"alice\"x,B1,3\n", "csv"),
             ":2:1: found '\"alice\"x', expected a closing quote before ','");
  EXPECT_HAS(error("user,item,rating\n\"alice\"x\",B1,3\n", "csv"),
             ":2:1: found '\"alice\"x\"', expected a closing quote before ','");
  EXPECT_HAS(error("user,item,rating\nbob,B1,3\n\"alice,B1,3\n", "csv"),
             ":3:1: found a quote that is not closed");
}

TEST_F(TextIds, OneKindAColumn) {
  // Users are text, items integers, whose order and ids stay numeric.
  const Ratings mixed = read("user,item,rating\nbob,30,1\nalice,4,2\n", "csv");
  EXPECT_EQ(list_of(mixed.user_names()), (std::vector<std::string>{"alice", "bob"}));
  EXPECT_TRUE(mixed.item_names().empty());
  EXPECT_EQ(mixed.item_ids()[0], 4);
  // A number in a column of names is a name.
  EXPECT_EQ(list_of(read("bob 1 1\n7 2 2\n", "triples").user_names()),
            (std::vector<std::string>{"7", "bob"}));
  // A name among integers makes all of the column names, wherever it stands.
  for (std::size_t chunk = 1; chunk < 20; ++chunk) {
    const RawRatings raw =
        read_raw("7 1 1\n12 1 3\nbob 2 2\n", "triples", IdKind::automatic, chunk, 2);
    EXPECT_EQ(list_of(raw.user_names), (std::vector<std::string>{"12", "7", "bob"}));
    EXPECT_EQ(raw.users, (AlignedVector<std::int32_t>{1, 0, 2}));
    EXPECT_TRUE(raw.item_names.empty());
  }
  EXPECT_HAS(error("7 1 1\nbob 2 2\n", "triples", IdKind::integers),
             "ratings:2:1: found 'bob', expected a user id (an integer from 0 to 2147483647)");
  EXPECT_EQ(list_of(read("7 1 1\nbob 2 2\n", "triples", IdKind::text).user_names()),
            (std::vector<std::string>{"7", "bob"}));
  EXPECT_EQ(list_of(read("7 1 1\nbob 2 2\n", "triples", IdKind::text).item_names()),
            (std::vector<std::string>{"1", "2"}));
  EXPECT_HAS(error("bob 1 1\n", "triples", IdKind::integers),
             "found 'bob', expected a user id (an");
  for (const std::string number :
       {"-1", "2147483648", "18446744073709551615", "99999999999999999999", "00", "007"}) {
    EXPECT_EQ(list_of(read(number + " 1 1\n5 1 2\n", "triples").user_names()),
              (number == "99999999999999999999" ? std::vector<std::string>{"5", number}
                                                : std::vector<std::string>{number, "5"}));
  }
  // A number with a fraction is a slip, unless ids are said to be text.
  for (const std::string number : {"1.5", "1e3", "1.0"}) {
    EXPECT_HAS(error(number + " 1 1\n", "triples"),
               "ratings:1:1: found '" + number + "', expected a");
    EXPECT_EQ(list_of(read(number + " 1 1\n", "triples", IdKind::text).user_names()),
              std::vector<std::string>{number});
  }
  EXPECT_EQ(read("007 1 1\n8 1 2\n", "triples", IdKind::integers).user_ids()[0], 7);
}

TEST_F(TextIds, AHeaderIsNoRating) {
  // A first line is a rating if a number stands in the place of the rating, and a header if it has
  // words for a user and an item.
  EXPECT_EQ(read("alice,B000123,5\nbob,B000123,4\n", "auto").nnz(), 2);
  EXPECT_EQ(read("user item rating\nalice B1 5\n", "triples").nnz(), 1);
  EXPECT_EQ(read("user\titem\trating\nalice\tB1\t5\n", "auto").nnz(), 1);
  EXPECT_EQ(read("alice\tB1\t5\nbob\tB1\t5\n", "auto").nnz(), 2);
}

TEST_F(TextIds, HostileNamesAreRefusedAndShownEscaped) {
  const std::string rule = "expected a user id (text of 1 to 255 bytes of UTF-8";
  const std::vector<std::pair<std::string, std::string>> bad = {
      {std::string("a\0b", 3), "'a\\x00b'"},
      {"\x1b[31mred", "'\\x1b[31mred'"},
      {"a\rb", "'a\\rb'"},
      {"\x7f", "'\\x7f'"},
      {"\xc2\x9b", "'\\xc2\\x9b'"},
      {"\xff\xfe", "'\\xff\\xfe'"},
      {"\xe2\x80\xae"
       "evil",
       "'\\xe2\\x80\\xaeevil'"},
      {" alice", "' alice'"},
      {"alice ", "'alice '"},
      {std::string(256, 'x'), "'" + std::string(40, 'x') + "...'"},
      {std::string(1 << 20, 'x'), "'" + std::string(40, 'x') + "...'"}};
  for (const auto& [name, shown] : bad) {
    const std::string message = error("bob\tB1\t1\n" + name + "\tB1\t1\n", "movielens-tab");
    EXPECT_HAS(message, "ratings:2:1: found " + shown + ", " + rule);
    EXPECT_LT(message.size(), 400U);
    EXPECT_HAS(error("user,item,rating\nbob,1,1\n\"" + name + "\",1,1\n", "csv"),
               "ratings:3:1: found '\"");
  }
  EXPECT_HAS(error("user,item,rating\nbob,1,1\n,1,1\n", "csv"), "ratings:3:1: found nothing");
  EXPECT_HAS(error("user,item,rating\nbob,1,1\n\"\",1,1\n", "csv"), "ratings:3:1: found '\"\"'");
  EXPECT_HAS(error("bob\tB1\t1\n\tB1\t1\n", "movielens-tab"), "ratings:2:1: found nothing");
  EXPECT_HAS(error("bob::B1::1\nbob::B1\n", "double-colon"), "found the end of the line");
  // The longest there may be.
  EXPECT_EQ(read(std::string(255, 'x') + " 1 1\n", "triples").user_names()[0].size(), 255U);
}

TEST_F(TextIds, FormatsOfIntegersSaySo) {
  for (const char* format : {"netflix", "kddcup", "matrix-market"}) {
    const Error e = error_of([&] { read("1:\n2,3,2005-01-01\n", format, IdKind::text); });
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_HAS(e.what(), fmt::format("ids of the format {} are integers", format));
  }
}

TEST_F(TextIds, DuplicatesAreNamed) {
  EXPECT_HAS(error("bob B1 1\nalice B1 2\nbob B1 3\n", "triples"),
             "test: found 2 ratings of user \"bob\" and item \"B1\" (");
}

// ---- NumPy ----

class TextArrays : public TextIds {
 protected:
  // As numpy.array(["alice", "zoë", "alice"]) and numpy.array([b"B1", b"B2", b"B2"]) are saved.
  template <class Char>
  static std::string text_array(const char* type, std::vector<std::basic_string<Char>> names,
                                std::size_t width) {
    std::vector<Char> all;
    for (auto& name : names) {
      name.resize(width, Char{});
      all.insert(all.end(), name.begin(), name.end());
    }
    return test::npy_of(type + std::to_string(width), all, fmt::format("({},)", names.size()));
  }
  static std::string unicode(const std::vector<std::u32string>& names, std::size_t width) {
    return text_array("<U", names, width);
  }
  static std::string bytes(const std::vector<std::string>& names, std::size_t width) {
    return text_array("|S", names, width);
  }
  Ratings read_arrays(const std::string& users, const std::string& items,
                      IdKind ids = IdKind::automatic) {
    write_file(folder_ / "set/users.npy", users);
    write_file(folder_ / "set/items.npy", items);
    write_file(folder_ / "set/ratings.npy", test::npy_of<float>("<f4", {1, 2, 3}));
    ReadOptions options = test::options_of("npy");
    options.ids = ids;
    return make_ratings(read_ratings(folder_ / "set", options), DuplicatePolicy::error, 1, "set");
  }
};

TEST_F(TextArrays, UnicodeAndBytesAreIds) {
  const Ratings ratings = read_arrays(unicode({U"alice", U"zo\u00eb\U0001F600", U"alice"}, 6),
                                      bytes({"B2", "B1", "B1"}, 2));
  EXPECT_EQ(table_of(ratings), (Table{{{"alice", "B2"}, 1.0F},
                                      {{"zo\u00eb\U0001F600", "B1"}, 2.0F},
                                      {{"alice", "B1"}, 3.0F}}));
}

TEST_F(TextArrays, WhatIsNoNameOrNoArrayOfThemIsRefused) {
  const std::string good = bytes({"a", "b", "c"}, 1);
  const auto message = [&](const std::string& users, IdKind ids = IdKind::automatic) {
    return std::string(error_of([&] { read_arrays(users, good, ids); }).what());
  };
  EXPECT_HAS(message(bytes({"a", "", "c"}, 1)),
             "users.npy: element 1: found '', expected an id of");
  EXPECT_HAS(message(bytes({"a", std::string("\0b", 2), "c"}, 2)), "element 1: found '\\x00b'");
  EXPECT_HAS(message(unicode({U"a", U"b", {0x110000}}, 1)), "element 2: found '\\xff'");
  EXPECT_HAS(message(unicode({U"a", U"b", {0xD800}}, 1)), "element 2: found");
  EXPECT_HAS(message(bytes({"a", "b", std::string(300, 'x')}, 300)), "element 2: found 'xxx");
  for (const char* type : {">U1", "<U0", "|S0", "<U", "|S-1", "|S99999999999999999999", "|U1"}) {
    EXPECT_HAS(message(test::npy_of<std::int32_t>(type, {1, 2, 3})),
               fmt::format("found elements of type '{}'", type));
  }
  EXPECT_HAS(message(test::npy_of<std::int32_t>("<U2", {1, 2, 3})), "3 elements of 8 bytes");
  EXPECT_HAS(message(good, IdKind::integers), "expected integers for ids");
  EXPECT_HAS(message(test::npy_of<std::int32_t>("<i4", {1, 2, 3}), IdKind::text), "astype(str)");
}

class NumberedNames : public TextArrays {
 protected:
  Ratings read_named(const std::string& user_names, IdKind ids = IdKind::automatic,
                     const std::vector<std::int64_t>& users = {2, 0, 2}) {
    write_file(folder_ / "set/user_names.txt", user_names);
    return read_arrays(test::npy_of("<i8", users), test::npy_of<std::int32_t>("<i4", {7, 5, 5}),
                       ids);
  }
};

TEST_F(NumberedNames, StandBesideTheNumbersInAnyOrder) {
  const Table expected = {{{"ann", "7"}, 1.0F}, {{"zo\u00eb x", "5"}, 2.0F}, {{"ann", "5"}, 3.0F}};
  for (const char* names : {"zo\u00eb x\nunused\nann\n", "zo\u00eb x\nunused\nann"}) {
    const Ratings ratings = read_named(names, IdKind::automatic);
    EXPECT_EQ(table_of(ratings), expected);
    EXPECT_EQ(list_of(ratings.user_names()), (std::vector<std::string>{"ann", "zo\u00eb x"}));
  }
}

TEST_F(NumberedNames, ThatDoNotFitTheNumbersAreRefused) {
  const auto message = [&](const std::string& names, IdKind ids = IdKind::automatic) {
    return std::string(error_of([&] { read_named(names, ids); }).what());
  };
  EXPECT_HAS(message("a\nb\n"), "user_names.txt: found 2 names, and the number 2 (element 0)");
  EXPECT_HAS(message(""), "user_names.txt: found 0 names");
  EXPECT_HAS(message("a\nb\na\n"), "user_names.txt:3: found 'a', expected an id of a user");
  EXPECT_HAS(message("a\n\nc\n"), "user_names.txt:2: found ''");
  EXPECT_HAS(message("a\n b\nc\n"), "user_names.txt:2: found ' b'");
  EXPECT_HAS(message("a\nb\nc\n", IdKind::integers), "as ids says");
  const Error negative = error_of([&] { read_named("a\nb\nc\n", IdKind::automatic, {0, -1, 2}); });
  EXPECT_HAS(negative.what(), "users.npy: element 1: found -1");
}

// ---- parts, rules and caches ----

TEST_F(TextIds, GivenPartsShareTheirNames) {
  const auto part = [&](Part label, const std::string& name, const std::string& text) {
    return GivenPart{label, name, read_raw(text, "triples", IdKind::automatic, 1 << 20, 1)};
  };
  const auto train = part(kTrain, "train", "bob B2 1\nalice B1 2\nbob B1 5\n");
  const auto test_part = part(kTest, "test", "carol B2 3\nalice B0 4\n");
  for (const int threads : {1, 3}) {
    const JoinedParts joined =
        join_parts({train, test_part}, DuplicatePolicy::error, threads, "both");
    EXPECT_EQ(list_of(joined.ratings.user_names()),
              (std::vector<std::string>{"alice", "bob", "carol"}));
    EXPECT_EQ(list_of(joined.ratings.item_names()), (std::vector<std::string>{"B0", "B1", "B2"}));
    EXPECT_EQ(table_of(joined.ratings), (Table{{{"bob", "B2"}, 1.0F},
                                               {{"alice", "B1"}, 2.0F},
                                               {{"bob", "B1"}, 5.0F},
                                               {{"carol", "B2"}, 3.0F},
                                               {{"alice", "B0"}, 4.0F}}));
    // alice B0 (test), alice B1, bob B1, bob B2, carol B2 (test)
    EXPECT_EQ(joined.labels, (AlignedVector<std::uint8_t>{kTest, kTrain, kTrain, kTrain, kTest}));
  }
  const auto told = [&](const std::string& held) {
    return std::string(
        error_of([&] {
          join_parts({train, part(kTest, "test", held)}, DuplicatePolicy::error, 1, "both");
        }).what());
  };
  EXPECT_HAS(told("bob B1 3\n"),
             "user \"bob\", item \"B1\" is in both train and test (1 such pair)");
  // Integers beside names are names.
  for (const Part first : {kTrain, kTest}) {
    std::vector<GivenPart> parts = {part(first, "a", "bob 2 3\n"),
                                    part(kTrain, "b", "10 2 4\n7 1 5\n")};
    if (first == kTest) std::swap(parts[0], parts[1]);
    const auto joined = join_parts(std::move(parts), DuplicatePolicy::error, 1, "both");
    EXPECT_EQ(list_of(joined.ratings.user_names()), (std::vector<std::string>{"10", "7", "bob"}));
    EXPECT_EQ(table_of(joined.ratings),
              (Table{{{"bob", "2"}, 3}, {{"10", "2"}, 4}, {{"7", "1"}, 5}}));
  }
}

TEST_F(TextIds, ImplicitFeedbackKeepsTheNamesOfWhatIsLeft) {
  const Dataset data = dataset("bob B1 5\nbob B2 1\nalice B2 1\ncarol B3 4\n", "triples");
  const Dataset kept = observed(data, ImplicitRule{4, ImplicitValue::rating}, 2);
  EXPECT_EQ(table_of(kept.ratings), (Table{{{"bob", "B1"}, 5.0F}, {{"carol", "B3"}, 4.0F}}));
  EXPECT_EQ(list_of(kept.ratings.user_names()), (std::vector<std::string>{"bob", "carol"}));
  EXPECT_EQ(kept.ratings.user_ids()[1], 1);
}

TEST_F(TextIds, ACacheKeepsThem) {
  for (const char* text : {"bob B1 5\nzoë 日本 1\nalice B2 1\n", "bob 1 5\nalice 7 3\n"}) {
    const Dataset data = dataset(text, "triples");
    write_cache(folder_ / "named.mfc", data, 2, "key");
    const CacheHead head = read_cache_head(folder_ / "named.mfc");
    EXPECT_TRUE(head.user_names);
    EXPECT_EQ(head.item_names, !data.ratings.item_names().empty());
    const Dataset back = read_cache(folder_ / "named.mfc", 2);
    EXPECT_EQ(table_of(back.ratings), table_of(data.ratings));
    EXPECT_EQ(content_hash(back.ratings, 1), content_hash(data.ratings, 2));
    EXPECT_EQ(test::read_file(folder_ / "named.mfc")[8], 2) << "older programs refuse it";
  }
}

TEST_F(TextIds, ACacheOfIntegersIsThatOfOlderPrograms) {
  write_cache(folder_ / "plain.mfc", dataset("3 1 5\n4 1 3\n", "triples"), 1, "key");
  const std::string bytes = test::read_file(folder_ / "plain.mfc");
  EXPECT_EQ(bytes[8], 1);
  // Reserved in version 1: from the hash of the seventh section on.
  EXPECT_EQ(bytes.substr(80 + 7 * 8, 192 - 80 - 7 * 8), std::string(56, '\0'));
  EXPECT_EQ(read_cache(folder_ / "plain.mfc", 1).ratings.user_ids()[0], 3);
}

TEST_F(TextIds, ACacheWithNamesThatAreNoneIsRefused) {
  const Dataset good = dataset("bob B1 5\nalice B1 1\n", "triples");
  const auto with = [&](const std::vector<std::string_view>& users) {
    const Ratings& r = good.ratings;
    Dataset data;
    data.ratings = Ratings(Ratings::Views{r.users(),
                                          r.items(),
                                          r.values(),
                                          r.user_offsets(),
                                          r.user_ids(),
                                          r.item_ids(),
                                          IdNames(users),
                                          {}},
                           nullptr);
    write_cache(folder_ / "bad.mfc", data, 1);
    return std::string(error_of([&] { read_cache(folder_ / "bad.mfc", 1); }).what());
  };
  EXPECT_HAS(with({"bob", "alice"}), "the names of users have the name 'bob' before 'alice'");
  EXPECT_HAS(with({"bob", "bob"}), "expected ascending names");
  EXPECT_HAS(with({"", "bob"}), "have '' as name 0");
  EXPECT_HAS(with({"\x1b[2J", "bob"}), "'\\x1b[2J' as name 0");
  const std::string bytes = test::read_file(folder_ / "bad.mfc");
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (at >= 192 && bytes[at] == '\0') continue;  // padding is in no checksum
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    write_file(folder_ / "bad.mfc", flipped);
    error_of([&] { read_cache(folder_ / "bad.mfc", 1); });
  }
}

}  // namespace
}  // namespace mf
