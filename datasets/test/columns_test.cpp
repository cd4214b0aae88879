// Columns by their names, and by their places if a file has no header: observed pairs, counts, and
// files of other programs. Detection and explicit keys agree.
#include <gtest/gtest.h>

#include "datasets/readers/columns.hpp"
#include "datasets/readers/readers.hpp"
#include "testing/reader_support.hpp"

namespace mf {
namespace {

using test::TempFolder;
using List = test::RatingList;

class Columns : public testing::Test {
 protected:
  RawRatings raw(const std::string& text, const std::string& name = "ratings.txt",
                 const ReadOptions& options = {}) {
    test::write_file(folder_ / name, text);
    return read_ratings(folder_ / name, options);
  }
  List read(const std::string& text, const std::string& name = "ratings.txt",
            const ReadOptions& options = {}) {
    return test::list_of(raw(text, name, options));
  }
  static ReadOptions format(const std::string& name, const ColumnNames& columns = {}) {
    ReadOptions options;
    options.format = name;
    options.columns = columns;
    return options;
  }
  std::string error(const std::string& text, const ReadOptions& options = {},
                    const std::string& name = "ratings.txt") {
    return test::error_of([&] { raw(text, name, options); }).what();
  }
  TempFolder folder_;
};

const List kPairs = {{1, 2, 1}, {3, 4, 1}};
const List kRated = {{1, 2, 5}, {3, 4, 2.5F}};

TEST_F(Columns, AnyWordForTheValueIsOne) {
  for (const char* word : {"rating", "count", "Counts", "plays", "play_count", "weight", "quantity",
                           "Qty", "overall", "clicks", "views", "listens", "Book-Rating"}) {
    test::expect_same(read(fmt::format("user,item,{}\n1,2,5\n3,4,2.5\n", word)), kRated);
  }
}

TEST_F(Columns, TwoColumnsArePairsWithAndWithoutAHeader) {
  for (const char* text :
       {"user,item\n1,2\n3,4\n", "1,2\n3,4\n", "user\titem\n1\t2\n3\t4\n", "1\t2\n3\t4\n",
        "user item\n1 2\n3 4\n", "1 2\n3 4\n", "userId;movieId\r\n1;2\r\n3;4\r\n",
        "item,user\n2,1\n4,3\n", "user|item\n1|2\n3|4\n"}) {
    test::expect_same(read(text), kPairs);
    test::expect_same(read(text, "ratings.txt", format("pairs")), kPairs);
  }
  test::expect_same(read("1,2\n3,4\n", "ratings.csv"), kPairs);
  test::expect_same(read("user,item\n1,2\n3,4\n", "ratings.csv"), kPairs);
}

TEST_F(Columns, PairsSkipWhatElseAFileHas) {
  test::expect_same(read("when,user,item,rating\n9,1,2,5\n9,3,4,2\n", "e.csv", format("pairs")),
                    kPairs);
  test::expect_same(read("1,2,5\n3,4,2\n", "e.csv", format("pairs")), kPairs);
  test::expect_same(read("user,item,plays,views\n1,2,5,9\n3,4,2,9\n", "e.csv", format("pairs")),
                    kPairs);
  EXPECT_HAS(error("when,user,item\n9,1,2\n"),
             "found the header 'when,user,item', expected a header with a column for the rating");
  EXPECT_HAS(error("when,user,item\n9,1,2\n"), "set format to \"pairs\"");
}

TEST_F(Columns, ValuesWithoutAHeader) {
  for (const char* text :
       {"1,2,5\n3,4,2.5\n", "1;2;5\n3;4;2.5\n", "1,2,5,978300760\n3,4,2.5,978300761\n",
        "1,2,5,2005-09-06\n3,4,2.5,2005-09-06\n", "\"1\",\"2\",5\n\"3\",\"4\",2.5\n"}) {
    test::expect_same(read(text), kRated);
    test::expect_same(read(text, "ratings.csv"), kRated);
    test::expect_same(read(text, "ratings.csv", format("csv")), kRated);
  }
  const RawRatings named = raw("alice,matrix,5\nbob,alien,3\n", "ratings.csv");
  ASSERT_EQ(named.user_names.size(), 2);
  EXPECT_EQ(named.values[1], 3);
}

TEST_F(Columns, OtherProgramsFiles) {
  // RecBole; a separator of dumps; MovieLens with a header; the same between blanks.
  for (const char* text :
       {"user_id:token\titem_id:token\trating:float\n1\t2\t5\n3\t4\t2.5\n",
        "userId|movieId|rating\n1|2|5\n3|4|2.5\n", "userId::movieId::rating\n1::2::5\n3::4::2.5\n",
        "user item rating\n1 2 5\n3 4 2.5\n", "userId\tmovieId\trating\n1\t2\t5\n3\t4\t2.5\n"}) {
    test::expect_same(read(text), kRated);
    test::expect_same(read(test::replaced(text, {{"\n", "\r\n"}})), kRated);
  }
  test::expect_same(read("user\titem\trating\n1\t2\t5\n3\t4\t2.5\n", "u", format("movielens-tab")),
                    kRated);
  const char* timed = "user::item::rating::time\n1::2::5::978300760\n3::4::2.5::978300760\n";
  test::expect_same(read(timed), kRated);
  test::expect_same(read(timed, "u", format("double-colon")), kRated);
}

TEST_F(Columns, AreNamed) {
  const ColumnNames names{"visitor id", "what", "n"};
  const char* text = "n,user,what,visitor id,rating\n5,9,2,1,8\n2.5,9,4,3,8\n";
  test::expect_same(read(text, "e.csv", format("auto", names)), kRated);
  test::expect_same(read(text, "e.csv", format("csv", names)), kRated);
  test::expect_same(read(text, "e.csv", format("pairs", {"visitor id", "what", ""})), kPairs);
  // With only one name, the others are found by their words.
  test::expect_same(
      read("who,item,rating\n1,2,5\n3,4,2.5\n", "e.txt", format("auto", {"who", "", ""})), kRated);
  test::expect_same(
      read("who what n\n1 2 5\n3 4 2.5\n", "e.txt", format("auto", {"who", "what", "n"})), kRated);
  // A column named for one role is not guessed for another.
  test::expect_same(
      read("item,user,rating\n1,2,5\n3,4,2.5\n", "e.csv", format("csv", {"item", "user", ""})),
      kRated);
}

TEST_F(Columns, NamesThatAreNotThere) {
  EXPECT_HAS(error("user,item,n\n1,2,5\n", format("csv", {"", "", "count"})),
             "found the header 'user,item,n', expected a header with a column 'count'");
  EXPECT_HAS(error("1,2,5\n", format("csv", {"u", "", ""})), "expected a header with a column 'u'");
  EXPECT_HAS(error("1 2 5\n", format("triples", {"u", "", ""})),
             "1:1: found the first line '1 2 5'");
  const Error refused = test::error_of([&] {
    raw("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 5\n", "m.mtx",
        format("auto", {"u", "", ""}));
  });
  EXPECT_EQ(refused.kind(), ErrorKind::usage);
  EXPECT_HAS(refused.what(), "columns: found it with the format matrix-market");
}

TEST_F(Columns, APlainWordGoesBeforeTheOthersAndEqualOnesAreRefused) {
  test::expect_same(read("user,item,rating,views\n1,2,5,9\n3,4,2.5,9\n"), kRated);
  EXPECT_HAS(error("user,movieId,productId,rating\n1,2,3,4\n"),
             "1:14: found 'productId', expected one column each");
  EXPECT_HAS(error("user,item,plays,views\n1,2,3,4\n"), "found 'views'");
  EXPECT_HAS(error("user,item,plays,views\n1,2,3,4\n"), "say with columns which they are");
  test::expect_same(read("user,item,plays,views\n1,2,5,9\n3,4,2.5,9\n", "e.csv",
                         format("csv", {"", "", "plays"})),
                    kRated);
}

TEST_F(Columns, AHeaderInTextIsCalledOne) {
  EXPECT_HAS(error("item user rating\n1 2 5\n"),
             "ratings.txt:1:1: found the header 'item user rating', expected a header of the "
             "columns user, item and rating in this order, or none");
  EXPECT_HAS(error("who what much\n1 2 5\n", format("triples")),
             "found what seems to be a header, 'who what much'");
  EXPECT_HAS(error("who::what::much\n1::2::5\n", format("double-colon")), "seems to be a header");
  EXPECT_HAS(error("who what much\n1 2 5\n"),
             "ratings.txt:1: found what seems to be a header of a file of the format triples, 'who "
             "what much'");
  EXPECT_HAS(error("who::what::much\n1::2::5\n"), "of the format double-colon");
  EXPECT_HAS(error("who what\n1 2\n"), "of the format pairs");
  EXPECT_HAS(error("who what\nhow why\n"), "which fit no known format");
}

TEST_F(Columns, AFirstLineOfNumbersIsNotCalledAHeader) {
  EXPECT_HAS(error("1,2,3,5\n2,7,4,0\n", format("csv")),
             "1:1: found the first line '1,2,3,5', expected a header, or the values of user, item "
             "and perhaps rating and time; write decimals with a point, as in 3.5, or say");
  EXPECT_HAS(error("1,2,3,5,7\n", format("csv")), "expected a header, or the values");
}

TEST(ColumnRoles, RolesOfFields) {
  using enum Role;
  const auto roles = [](const std::vector<std::string>& fields) { return roles_of(fields, {}).of; };
  EXPECT_EQ(roles({"User-ID", "ISBN", "Book-Rating"}), (std::vector{user, item, rating}));
  EXPECT_EQ(roles({"reviewerID", "asin", "overall"}), (std::vector{user, item, rating}));
  EXPECT_EQ(roles({"userID", "artistID", "weight"}), (std::vector{user, item, rating}));
  EXPECT_EQ(roles({"CustomerID", "StockCode", "Quantity", "Country"}),
            (std::vector{user, item, rating, other}));
  EXPECT_EQ(roles({"1", "2", "3"}), (std::vector{other, other, other}));
  EXPECT_TRUE(is_header({"user_id:token", "item_id:token"}, {}));
  EXPECT_FALSE(is_header({"user", "rating"}, {}));
}

// ---- by their places, of files without a header ----

ColumnNames places(const char* user, const char* item, const char* rating = "",
                   const char* time = "") {
  return {user, item, rating, time};
}

TEST_F(Columns, ByTheirPlacesInAnyOrder) {
  const auto asked = [](const ColumnNames& columns, const std::string& name = "auto") {
    return format(name, columns);
  };
  const ColumnNames swapped = places("#2", "#1", "#3");
  test::expect_same(read("2,1,5,965000000\n4,3,2.5,965000001\n", "r.csv", asked(swapped)), kRated);
  test::expect_same(read("2\t1\t5\n4\t3\t2.5\n", "r.txt", asked(swapped)), kRated);
  test::expect_same(read("x;2;5;1\ny;4;2.5;3\n", "r.txt", asked(places("#4", "#2", "#3"))), kRated);
  test::expect_same(read("2,9,1\n4,9,3\n", "r.csv", asked(places("#3", "#1"), "pairs")), kPairs);
  test::expect_same(read("2,1\n4,3\n", "r.csv", asked(places("#2", "#1"))), kPairs);
}

TEST_F(Columns, TimesHaveAPlaceToo) {
  ReadOptions options = format("csv", places("#4", "#1", "#2", "#3"));
  options.times = true;
  const RawRatings found = raw("2,5,100,1\n4,2.5,90,3\n", "r.csv", options);
  test::expect_same(test::list_of(found), kRated);
  EXPECT_EQ(found.times[0], 100);
  EXPECT_EQ(found.times[1], 90);
}

// As in the files of last.fm 360K, of "Steam video games" and of Amazon's ratings.
TEST_F(Columns, FilesOfOtherProgramsByPlace) {
  const RawRatings plays =
      raw("0a1\t3bd7-01\t\"weird al\" yankovic\t2137\n0a1\t\tdie \u00c4rzte\t31\n0b2\t3bd7-01\t"
          "\"weird al\" yankovic\t7\n",
          "plays.tsv", format("auto", places("#1", "#3", "#4")));
  test::expect_same(read("\"a\tm\tb\t5\n", "plays.tsv", format("auto", places("#1", "#3", "#4"))),
                    {{0, 0, 5}});
  ASSERT_EQ(plays.item_names.size(), 2);
  EXPECT_EQ(plays.item_names[0], "\"weird al\" yankovic");
  EXPECT_EQ(plays.user_names.size(), 2);
  test::expect_same(test::list_of(plays), {{0, 0, 2137}, {0, 1, 31}, {1, 0, 7}});
  const RawRatings hours = raw(
      "151603712,\"The Elder Scrolls V Skyrim\",play,273.0,0\n151603712,\"Warhammer, 40,000\",play,"
      "1.5,0\n",
      "steam.csv", format("auto", places("#1", "#2", "#4")));
  EXPECT_EQ(hours.item_names[1], "Warhammer, 40,000");
  EXPECT_EQ(hours.values[1], 1.5F);
  ReadOptions amazon = format("auto", places("#2", "#1", "#3", "#4"));
  amazon.ids = IdKind::text;
  const RawRatings stars =
      raw("0001713353,A1C6M8LCIX4M6M,5.0,1123804800\nB000JQ0JNS,A3,3.0,1\n", "Books.csv", amazon);
  EXPECT_EQ(stars.item_names[0], "0001713353");
  EXPECT_EQ(stars.user_names[1], "A3");
}

TEST_F(Columns, PlacesThatDoNotFitAreRefused) {
  const auto told = [&](const ColumnNames& columns, const std::string& name = "csv") {
    return error("2,1,5,9\n", format(name, columns));
  };
  EXPECT_HAS(told(places("#2", "#5", "#3")), ":1:1: found 4 columns, expected #5 for the item");
  EXPECT_HAS(told(places("#2", "#1", "#2")),
             "found #2 for the rating, expected another place than that of the user");
  EXPECT_HAS(told(places("#2", "item", "#3")), "found 'item' for the item, expected its place");
  EXPECT_HAS(told(places("#2", "", "#3")), "found '' for the item, expected its place");
  EXPECT_HAS(told(places("#2", "#1")), "found 4 columns, expected the place of the rating");
  EXPECT_HAS(told(places("#2", "#0", "#3")), "found '#0' for the item, expected its place");
  for (const char* name : {"triples", "movielens-tab", "double-colon"}) {
    EXPECT_HAS(told(places("#2", "#1", "#3"), name), "expected them with csv or pairs");
  }
  EXPECT_HAS(told(places("#2", "#1", "#3"), "kddcup"), "columns: found it with the format kddcup");
  // A name that only looks like a place belongs to a header.
  test::expect_same(
      read("#a,#1x,n\n1,2,5\n3,4,2.5\n", "r.csv", format("csv", places("#a", "#1x", "n"))), kRated);
}

TEST_F(Columns, DamagedLinesAreLeftOutWhereTheFileIsKnownToHaveSome) {
  const std::string text =
      "u1\tm\tabba\t3\nu2\tm\t\t9\nu1\tm\tb\tmany\nu3\tm\tabba\n\nu4\tm\tabba\t1\t1\nu2\tm\tabba\t4"
      "\n";
  ReadOptions options = format("csv", places("#1", "#3", "#4"));
  EXPECT_HAS(error(text, options), ":2:6: found nothing, expected an item id");
  options.leave_out_damaged = true;
  options.ids = IdKind::text;
  for (const std::size_t chunk : {std::size_t{4}, std::size_t{1} << 22}) {
    for (const int threads : {1, 3}) {
      options.threads = threads;
      test::write_file(folder_ / "r.tsv", text);
      testing::internal::CaptureStderr();
      const RawRatings found = read_ratings_chunked(folder_ / "r.tsv", options, chunk);
      const std::string said = testing::internal::GetCapturedStderr();
      test::expect_same(test::list_of(found), {{0, 0, 3}, {1, 0, 4}});
      EXPECT_HAS(said, "5 lines are no ratings and are left out; the first: ");
      EXPECT_HAS(said, "r.tsv:2:6: found nothing");
    }
  }
  EXPECT_HAS(error("a\tb\t\t1\n", options), "found no ratings");
}

}  // namespace
}  // namespace mf
