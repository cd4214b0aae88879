// Splits by time, and in folds, from the file on: against the definition, on lines in the order of
// a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "datasets/readers/archive_reader.hpp"
#include "datasets/readers/reader_formats.hpp"
#include "datasets/test/requests.hpp"
#include "datasets/test/split_specs.hpp"
#include "testing/reader_support.hpp"
#include "testing/test_support.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

using test::cut_at;
using test::error_of;
using test::fold_of;
using test::leave_last;
using test::parse_request;
using test::write_file;
using Pair = std::pair<int, int>;

struct Line {
  int user, item;
  long long time;
};

// Times with many ties, in no order; users of 1 to 40 ratings.
std::vector<Line> make_lines(std::uint64_t seed, int n_users, int n_items) {
  Rng rng(seed);
  std::vector<Line> lines;
  for (int u = 1; u <= n_users; ++u) {
    const std::uint64_t share = 1 + rng.below(99);
    for (int i = 1; i <= n_items; ++i)
      if (rng.below(100) < share)
        lines.push_back({u, i, 880'000'000 + 10 * (long long)rng.below(60)});
  }
  for (std::size_t k = lines.size(); k > 1; --k) std::swap(lines[k - 1], lines[rng.below(k)]);
  return lines;
}

std::string text_of(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines)
    text += fmt::format("{}\t{}\t{}\t{}\n", line.user, line.item, 1 + line.item % 5, line.time);
  return text;
}

// In the order of their times; ties in the file's order.
std::vector<Line> by_time(std::vector<Line> lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.time < b.time; });
  return lines;
}

std::set<Pair> pairs_of(const Ratings& ratings) {
  std::set<Pair> pairs;
  for (std::int64_t k = 0; k < ratings.nnz(); ++k)
    pairs.insert({ratings.user_ids()[ratings.users()[k]], ratings.item_ids()[ratings.items()[k]]});
  return pairs;
}

std::set<Pair> pairs_of(const std::vector<Line>& lines, std::size_t begin, std::size_t end) {
  std::set<Pair> pairs;
  for (std::size_t k = begin; k < end; ++k) pairs.insert({lines[k].user, lines[k].item});
  return pairs;
}

class TimeSplit : public testing::Test {
 protected:
  TimeSplit() { environment_.set("MFBENCH_CACHE", folder_ / "cache"); }

  Dataset load(const std::string& name, const std::string& text, const std::string& keys = "",
               const std::string& split = R"({"by_time": 0.5})") {
    const std::string path = folder_ / name;
    write_file(path, text);
    return load_again(name, keys, split);
  }
  Dataset load_again(const std::string& name, const std::string& keys = "",
                     const std::string& split = R"({"by_time": 0.5})") {
    return load_dataset(parse_request(R"({"path": ")" + (folder_ / name) + '"' + keys +
                                      R"(, "split": )" + split + "}"),
                        3);
  }

  test::TempFolder folder_;
  test::Environment environment_;
};

void expect_whole(const Dataset& data, const Split& split) {
  std::set<Pair> all;
  std::int64_t count = 0;
  for (const Ratings* part : {&split.train, &split.test, &split.validation, &split.fold_in}) {
    const auto pairs = pairs_of(*part);
    all.insert(pairs.begin(), pairs.end());
    count += part->nnz();
  }
  EXPECT_EQ(count, data.ratings.nnz());
  EXPECT_EQ(all, pairs_of(data.ratings));
}

TEST_F(TimeSplit, CutsAllRatingsAtOneTime) {
  const auto lines = make_lines(1, 60, 40);
  const Dataset data = load("r.tsv", text_of(lines));
  const auto ordered = by_time(lines);
  const auto n = lines.size();
  for (const double share : {0.001, 0.3, 0.5, 0.8, 0.999}) {
    for (const double validation : {0.0, 0.25}) {
      const auto cut = static_cast<std::size_t>(std::llround(share * static_cast<double>(n)));
      const auto held =
          static_cast<std::size_t>(std::llround(validation * static_cast<double>(cut)));
      if (cut == held) continue;
      const Split split = make_split(data, cut_at(share, validation), 3);
      expect_whole(data, split);
      EXPECT_EQ(pairs_of(split.train), pairs_of(ordered, 0, cut - held));
      EXPECT_EQ(pairs_of(split.validation), pairs_of(ordered, cut - held, cut));
      EXPECT_EQ(pairs_of(split.test), pairs_of(ordered, cut, n));
      EXPECT_EQ(split.test_from, ordered[cut].time);
      if (held > 0) {
        EXPECT_EQ(split.validation_from, ordered[cut - held].time);
      } else {
        EXPECT_FALSE(split.validation_from.has_value());
      }
    }
  }
}

TEST_F(TimeSplit, CutsAtADate) {
  const auto lines = make_lines(1, 60, 40);  // times from 1997-11-20 on
  const auto ordered = by_time(lines);
  SplitSpec spec = cut_at(0.5);
  spec.cut_date = "1997-11-20T05:31:45+01:00";
  constexpr long long kCut = 880'000'305;
  const auto begin = std::find_if(ordered.begin(), ordered.end(),
                                  [](const Line& line) { return line.time >= kCut; });
  const auto cut = static_cast<std::size_t>(begin - ordered.begin());
  for (const int zeros : {0, 3, 6}) {  // seconds, milliseconds, microseconds
    std::string text;
    for (const Line& line : lines)
      text += fmt::format("{}\t{}\t3\t{}{}\n", line.user, line.item, line.time,
                          std::string(static_cast<std::size_t>(zeros), '0'));
    const Split split = make_split(load(fmt::format("r{}.tsv", zeros), text), spec, 3);
    EXPECT_EQ(pairs_of(split.train), pairs_of(ordered, 0, cut)) << zeros;
    EXPECT_EQ(pairs_of(split.test), pairs_of(ordered, cut, ordered.size())) << zeros;
  }
  const Dataset data = load("r.tsv", text_of(lines));
  for (const auto& [date, missing] :
       {std::pair{"1997-11-20",
                  "no rating to train on: the times of the file reach from 880000000"},
        std::pair{"1998-01-01", "no rating to test on: the times of the file"}}) {
    spec.cut_date = date;
    const std::string said = error_of([&] { make_split(data, spec, 3); }).what();
    EXPECT_NE(said.find(missing), std::string::npos) << said;
  }
}

TEST_F(TimeSplit, LeavesTheLastOfEachUser) {
  const auto lines = make_lines(2, 60, 40);
  const Dataset data = load("r.tsv", text_of(lines));
  std::map<int, std::vector<Line>> of_user;
  for (const Line& line : by_time(lines)) of_user[line.user].push_back(line);
  for (const auto& [k, held] : {std::pair{1, 0}, {1, 1}, {5, 2}, {12, 12}, {39, 3}}) {
    const Split split = make_split(data, leave_last(k, held), 3);
    expect_whole(data, split);
    std::set<Pair> test, validation;
    for (const auto& entry : of_user) {
      const std::vector<Line>& own = entry.second;
      std::size_t left = own.size();
      const auto take = [&](int last, std::set<Pair>& part) {
        const auto count = static_cast<std::size_t>(last);
        if (left <= count) return;
        const auto taken = pairs_of(own, left - count, left);
        part.insert(taken.begin(), taken.end());
        left -= count;
      };
      take(k, test);
      take(held, validation);
      EXPECT_GE(left, 1U);
    }
    EXPECT_EQ(pairs_of(split.test), test);
    EXPECT_EQ(pairs_of(split.validation), validation);
    EXPECT_EQ(split.cold_users, 0);
    EXPECT_FALSE(split.test_from.has_value());
  }
}

TEST_F(TimeSplit, IsTheSameForAnyNumberOfThreadsAndOfRatingsGivenBack) {
  const auto lines = make_lines(3, 700, 900);
  ASSERT_GT(lines.size(), 1U << 18);  // more than one chunk of a draw
  const Dataset data = load("r.tsv", text_of(lines));
  for (const SplitSpec& spec : {cut_at(0.8, 0.1), leave_last(3, 2), fold_of(7, 3, 0.1)}) {
    const Split one = make_split(data, spec, 1);
    const Split many = make_split(data, spec, 3);
    EXPECT_EQ(test::triples(one.test), test::triples(many.test));
    EXPECT_EQ(test::triples(one.validation), test::triples(many.validation));
    const Split consumed = make_split_consuming(load_again("r.tsv"), spec, 2);
    EXPECT_EQ(test::triples(one.test), test::triples(consumed.test));
    EXPECT_EQ(one.test_from, consumed.test_from);
  }
}

TEST(Folds, AreAPartitionInEqualParts) {
  for (const auto& [users, items] : {std::pair{3, 4}, {40, 30}}) {
    const auto lines = make_lines(5, users, items);
    std::vector<Rating> list;
    for (const Line& line : lines) list.push_back({line.user - 1, line.item - 1, 3});
    std::sort(list.begin(), list.end(), [](const Rating& a, const Rating& b) {
      return std::pair(a.user, a.item) < std::pair(b.user, b.item);
    });
    Dataset data;
    data.ratings = test::ratings_of(users, items, list);
    for (const int folds : {2, 3, 5}) {
      std::set<Pair> all;
      const std::int64_t least = data.ratings.nnz() / folds;
      for (int fold = 1; fold <= folds; ++fold) {
        const Split split = make_split(data, fold_of(folds, fold), 2);
        expect_whole(data, split);
        EXPECT_GE(split.test.nnz(), least);
        EXPECT_LE(split.test.nnz(), least + 1);
        for (const Pair& pair : pairs_of(split.test)) EXPECT_TRUE(all.insert(pair).second);
        EXPECT_NE(pairs_of(split.test),
                  pairs_of(make_split(data, fold_of(folds, fold, 0, 2), 1).test));
      }
      EXPECT_EQ(all, pairs_of(data.ratings));
    }
    const Split with = make_split(data, fold_of(2, 2, 0.25), 2);
    expect_whole(data, with);
    EXPECT_EQ(with.validation.nnz(),
              std::llround(0.25 * static_cast<double>(with.train.nnz() + with.validation.nnz())));
  }
}

// The rule drops ratings, whose places in time stay empty.
TEST_F(TimeSplit, FollowsTheRule) {
  std::vector<Line> lines = make_lines(6, 30, 20);
  const Dataset data = load("r.tsv", text_of(lines), R"(, "implicit": {"min_rating": 3})");
  const auto left = pairs_of(data.ratings);
  ASSERT_LT(left.size(), lines.size() - 30);
  auto ordered = by_time(lines);
  std::erase_if(ordered, [&](const Line& line) { return !left.contains({line.user, line.item}); });
  const auto cut =
      static_cast<std::size_t>(std::llround(0.8 * static_cast<double>(ordered.size())));
  const Split split = make_split(data, cut_at(0.8), 2);
  EXPECT_EQ(pairs_of(split.train), pairs_of(ordered, 0, cut));
  EXPECT_EQ(split.test_from, ordered[cut].time);
}

// One file of the cache, for all: built again if it has no times.
TEST_F(TimeSplit, TimesAreInTheCacheOnceASplitHasAsked) {
  const auto lines = make_lines(7, 20, 20);
  const std::string holdout = R"({"holdout": 0.2})";
  EXPECT_TRUE(load("r.tsv", text_of(lines), "", holdout).times.empty());
  const auto request = [&](const std::string& split) {
    return parse_request(R"({"path": ")" + (folder_ / "r.tsv") + R"(", "split": )" + split + "}");
  };
  EXPECT_TRUE(fresh_cache(request(holdout)).has_value());
  EXPECT_FALSE(fresh_cache(request(R"({"leave_last": 1})")).has_value());
  const Dataset first = load_again("r.tsv");
  EXPECT_GT(first.load.read, 0);
  const Dataset second = load_again("r.tsv");
  EXPECT_EQ(second.load.read, 0);
  ASSERT_EQ(second.times.all.size(), second.ratings.nnz());
  EXPECT_TRUE(std::ranges::equal(first.times.all.bytes(), second.times.all.bytes()));
  const Dataset others = load_again("r.tsv", "", holdout);
  EXPECT_EQ(others.load.read, 0);  // from the same file
  EXPECT_TRUE(others.times.empty());
  EXPECT_EQ(others.info.content_hash, first.info.content_hash);
}

// The latest of its times, whatever counts of its values.
TEST_F(TimeSplit, APairThatOccursTwiceHasTheLatestOfItsTimes) {
  for (const char* policy : {"last", "mean", "sum", "max"}) {
    const Dataset data = load("twice.tsv", "1\t1\t5\t90\n1\t2\t4\t50\n1\t1\t1\t10\n2\t1\t2\t50\n",
                              fmt::format(R"(, "duplicates": "{}")", policy));
    ASSERT_EQ(data.times.all.size(), 3);
    std::vector<std::pair<long long, long long>> times;
    for (const RatingTime& one : data.times.all) times.emplace_back(one.time, one.place);
    EXPECT_EQ(times, (std::vector<std::pair<long long, long long>>{{90, 2}, {50, 0}, {50, 1}}));
  }
}

std::vector<long long> times_in(const Dataset& data) {
  std::vector<long long> times;
  for (const RatingTime& one : data.times.all) times.push_back(one.time);
  return times;
}

// And without a split that asks for them, the same ratings.
TEST_F(TimeSplit, ReadsTimesOfEveryFormatThatHasThem) {
  using Times = std::vector<long long>;
  const auto times = [&](const std::string& name, const std::string& text,
                         const std::string& keys = "") {
    const Dataset plain = load(name, text, keys, R"({"holdout": 0.5})");
    const Dataset timed = load_again(name, keys);
    EXPECT_EQ(plain.info.content_hash, timed.info.content_hash) << name;
    return times_in(timed);
  };
  EXPECT_EQ(times("a.dat", "1::2::3::978300760\n2::1::4::-5\n"), (Times{978300760, -5}));
  EXPECT_EQ(times("b.csv", "userId,movieId,rating,timestamp\n1,2,3,\"964982703\"\n"),
            (Times{964982703}));
  EXPECT_EQ(times("c.inter",
                  "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
                  "a\tx\t3\t881250949.75\nb\tx\t4\t8.8e8\n"),
            (Times{881250949750000, 880000000000000}));
  EXPECT_EQ(times("d.csv", "visitor,sku,qty,seen at\nv,s,2,1970-01-02T00:00:01Z\n",
                  R"(, "columns": {"user": "visitor", "item": "sku", "rating": "qty",
                     "time": "seen at"})"),
            (Times{86401}));
  EXPECT_EQ(times("e.csv", "user,item,date\n1,2,2005-09-06\n1,3,2005-09-06 12:30:05\n",
                  R"(, "format": "pairs")"),
            (Times{1125964800, 1126009805}));
  EXPECT_EQ(
      times("f.txt", "1:\n7,3,1970-01-03\n8,4,1969-12-31 00:01\n", R"(, "format": "netflix")"),
      (Times{2 * 86400, 60 - 86400}));
  EXPECT_EQ(
      times("g.txt", "5|2\n1\t90\t10\t00:01:00\n2\t30\t9\t23:59:59\n", R"(, "format": "kddcup")"),
      (Times{864060, 863999}));
  EXPECT_EQ(times("h.csv", "1,2,3,964982703\n1,3,4,964982704\n"), (Times{964982703, 964982704}));
  EXPECT_EQ(
      times("j.csv", "user,item,rating,time\n1,2,3,1970-01-01 00:00:01.25Z\n1,3,3,1970-01-01\n"),
      (Times{1250000, 0}));
  EXPECT_EQ(times("k.csv", "user,item,rating,time\n1,2,3,1.0000019\n1,3,3,-0.5\n"),
            (Times{1000002, -500000}));
  EXPECT_EQ(times("i.tsv", "1\t2\t3\t1970-01-01 00:01:00\n1\t3\t4\t1970-01-01\n"), (Times{60, 0}));
}

// One fraction, in any chunk, makes millionths of the times of all.
TEST_F(TimeSplit, TimesOfAllChunksHaveOneUnit) {
  constexpr int kLines = 60;
  for (const int at : {0, 31, kLines - 1}) {
    std::string text = "user,item,rating,time\n";
    std::vector<std::int64_t> expected;
    for (int k = 0; k < kLines; ++k) {
      text += fmt::format("{},{},3,{}{}\n", k % 7, k, 1'593'878'903 - k, k == at ? ".125" : "");
      expected.push_back((1'593'878'903'000 - 1000 * k + (k == at ? 125 : 0)) * 1000);
    }
    write_file(folder_ / "r.csv", text);
    for (const std::size_t chunk : {1, 64, 1 << 20}) {
      ReadOptions options;
      options.times = true;
      EXPECT_TRUE(std::ranges::equal(read_ratings_chunked(folder_ / "r.csv", options, chunk).times,
                                     expected))
          << at << " " << chunk;
    }
  }
}

TEST_F(TimeSplit, FractionsDecideWhichRatingIsTheLast) {
  std::string text = "user,item,rating,timestamp\n";
  for (int u = 0; u < 20; ++u)
    for (const int item : {3, 9, 1, 7, 5})  // the last within a second is item 9
      text += fmt::format("{},{},3,{}.{:03}\n", u, item, 1'593'878'903 + 1000 * u, 440 + item);
  const Split split = make_split(load("r.csv", text), leave_last(1), 1);
  ASSERT_EQ(split.test.nnz(), 20);
  for (const auto& [user, item] : pairs_of(split.test)) EXPECT_EQ(item, 9) << user;
  ASSERT_EQ(split.warnings.size(), 1);  // nothing ties
  EXPECT_HAS(split.warnings[0],
             "ratings later than the test ratings of 19 of 20 users are trained");
}

TEST_F(TimeSplit, WarnsOfTiesOfLaterRatingsAndOfTwoUnits) {
  const auto warnings = [&](const std::string& text, const SplitSpec& spec) {
    std::string all;
    for (const auto& one : make_split(load("w.tsv", text), spec, 2).warnings) all += one + "\n";
    return all;
  };
  const std::string tied = "1\t1\t3\t5\n1\t2\t3\t5\n2\t1\t3\t6\n2\t2\t3\t7\n";
  EXPECT_HAS(warnings(tied, leave_last(1)),
             "the last ratings of 1 of 2 users have the time of one");
  EXPECT_HAS(warnings(tied, leave_last(1)), "later than the test ratings of 1 of 2 users");
  EXPECT_EQ(warnings(tied, cut_at(0.5)), "");
  EXPECT_EQ(warnings("1\t1\t3\t5\n1\t2\t3\t9\n2\t1\t3\t6\n2\t2\t3\t7\n", leave_last(1)), "");
  const std::string units = "1\t1\t3\t978300760\n1\t2\t3\t978300761000\n";
  EXPECT_HAS(warnings(units, cut_at(0.5)), "are seconds and milliseconds in one column?");
  EXPECT_EQ(warnings("1\t1\t3\t978300760\n1\t2\t3\t1978300761\n", cut_at(0.5)), "");
}

TEST_F(TimeSplit, ReadsTimesOfArrays) {
  const auto array = [&](const std::string& name, const std::string& bytes) {
    write_file(folder_ / ("set/" + name + ".npy"), bytes);
  };
  const auto said = [&] { return std::string(error_of([&] { load_again("set"); }).what()); };
  for (const char* name : {"users", "items", "ratings"}) {
    array(name, test::npy_of<std::int32_t>("<i4", {1, 2}));
  }
  EXPECT_HAS(said(), "but no times, expected a time of each rating");
  using Times = std::vector<long long>;
  array("times", test::npy_of<std::int64_t>("<i8", {1'700'000'000'000, -5}));
  EXPECT_EQ(times_in(load_again("set")), (Times{1'700'000'000'000, -5}));
  array("times", test::npy_of<double>("<f8", {881250949.75, 8.8e8}));
  EXPECT_EQ(times_in(load_again("set")), (Times{881250949750000, 880000000000000}));
  array("times", test::npy_of<double>("<f8", {881250949, 8.8e8}));
  EXPECT_EQ(times_in(load_again("set")), (Times{881250949, 880000000}));
  array("times", test::npy_of<std::int32_t>("<i4", {1, 2, 3}));
  EXPECT_HAS(said(), "found 2 ratings and 3 times, expected a time for each rating");
  array("times", test::npy_of<double>("<f8", {1, std::nan("")}));
  EXPECT_HAS(said(), "times.npy: element 1: found nan, expected a time within 64 bits");
  array("times", test::npy_of<std::uint64_t>("<u8", {~std::uint64_t{0}, 2}));
  EXPECT_HAS(said(), "times.npy: element 0: found 18446744073709551615");
  array("times", test::npy_of<std::uint32_t>("<U1", {'a', 'b'}));
  EXPECT_HAS(said(), "elements of type '<U1', expected times as numbers; convert dates");
  load_again("set", "", R"({"holdout": 0.5})");  // which does not look at them
}

TEST_F(TimeSplit, ReadsTimesOfAnArchive) {
  if (!have_libarchive()) GTEST_SKIP() << "built without libarchive";
  const std::string ids = test::npy_of<std::int32_t>("<i4", {1, 2});
  write_file(folder_ / "set.npz",
             test::zip_of({{"users.npy", ids},
                           {"times.npy", test::npy_of<std::int64_t>("<i8", {9, 7})},
                           {"items.npy", ids},
                           {"ratings.npy", ids}}));
  EXPECT_EQ(times_in(load_again("set.npz")), (std::vector<long long>{9, 7}));
}

TEST_F(TimeSplit, SaysWhereThereIsNoTimeAndWhatToDo) {
  const auto error = [&](const std::string& name, const std::string& text,
                         const std::string& keys = "") {
    const Error found = error_of([&] { load(name, text, keys); });
    EXPECT_EQ(found.kind(), ErrorKind::data) << name;
    return std::string(found.what());
  };
  for (const auto& [name, text] :
       {std::pair{"a.tsv", "1\t2\t3\n"},
        {"b.dat", "1::2::3\n"},
        {"c.csv", "user,item,rating\n1,2,3\n"},
        {"d.csv", "1,2,3\n2,3,4\n"},
        {"e.txt", "1 2 3\n"},
        {"g.txt", "5|1\n1\t90\n"},
        {"f.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n"}}) {
    const std::string what = error(name, text);
    EXPECT_HAS(what, std::string(name) + ": found ");
    EXPECT_HAS(what, "expected a time of each rating");
    EXPECT_HAS(what, "\"leave_out\"");
  }
  EXPECT_HAS(
      error("h.csv", "user,item,rating,time,date\n1,2,3,4,5\n", R"(, "columns": {"time": "day"})"),
      "a header with a column 'day'");
  EXPECT_HAS(error("i.csv", "user,item,rating,time,timestamp\n1,2,3,4,5\n"),
             "one column for the time");
  EXPECT_HAS(error("j.csv", "user,item,rating,time\n1,2,3,4\n1,3,3,soon\n"),
             "j.csv:3:7: found 'soon', expected a time");
  for (const char* wrong : {"2005-13-01", "2005-02-30", "2005-1-1", "1e99", "nan", "", "12:30"}) {
    EXPECT_HAS(error("k.csv", std::string("user,item,rating,time\n1,2,3,") + wrong + "\n"),
               "k.csv:2:7: ")
        << wrong;
  }
  EXPECT_HAS(error("m.csv", "user,item,rating,time\n1,2,3,4.5\n1,3,3,1593878903448000000\n"),
             "times with fractions, and one beyond 9e12 beside them");
  EXPECT_HAS(error("l.csv", "user,item,rating,time\n1,2,3,4\n1,3,3,2005-09-06\n"),
             "times that are numbers and times that are dates");
}

TEST_F(TimeSplit, RefusesWhatHasNoTimesWithTheJsonPath) {
  for (const std::string data :
       {R"({"like": "ml-1m")", R"({"expand": "ml-100k", "users": 2, "items": 2)",
        R"({"train": "a", "test": "b")"}) {
    for (const char* key : {"by_time", "leave_last"}) {
      const Error error =
          error_of([&] { parse_request(data + fmt::format(R"(, "split": {{"{}": 1}}}})", key)); });
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_HAS(error.what(), fmt::format("$.split.{}: ", key));
    }
  }
}

}  // namespace
}  // namespace mf
