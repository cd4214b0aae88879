// Published data sets, if $MFBENCH_DATA names folders that hold them: counts and histograms as
// their authors (or a count of the files by other tools) give them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "datasets/readers/readers.hpp"
#include "datasets/split/given_parts.hpp"
#include "testing/real_data.hpp"

namespace mf {
namespace {

struct Sizes {
  std::int64_t lines, nnz;
  std::int32_t n_users, n_items;
  std::int64_t duplicate_pairs = 0;
};

struct RealSet {
  RealSet(const char* of, const char* at, const char* as, Sizes has, RatingScale on,
          const std::vector<std::int64_t>& counts)
      : name(of), file(at), format(as), sizes(has), scale(on), histogram(counts) {}
  std::string name, file, format;
  Sizes sizes;
  RatingScale scale;
  std::vector<std::int64_t> histogram;  // of the lines: how many of each value of the scale
};

void PrintTo(const RealSet& set, std::ostream* out) { *out << set.name; }

const RealSet kSets[] = {
    RealSet("ml-100k", "ml-100k/u.data", "movielens-tab", {100000, 100000, 943, 1682}, {1, 5, 1},
            {6110, 11370, 27145, 34174, 21201}),
    RealSet("ml-1m", "ml-1m/ratings.u-m-r.dat", "double-colon", {1000209, 1000209, 6040, 3706},
            {1, 5, 1}, {56174, 107557, 261197, 348971, 226310}),
    RealSet("movietweetings-100k", "movietweetings-100k/ratings.dat", "double-colon",
            {100000, 100000, 16554, 10506}, {0, 10, 1},
            {12, 1212, 1124, 1844, 3367, 6726, 12944, 22229, 24145, 14005, 12392}),
    RealSet("filmtrust", "filmtrust/ratings.txt", "triples", {35497, 35494, 1508, 2071, 3},
            {0.5F, 4, 0.5F}, {1060, 1141, 1601, 3113, 4392, 7877, 7142, 9171})};

class RealData : public testing::TestWithParam<RealSet> {};

INSTANTIATE_TEST_SUITE_P(Sets, RealData, testing::ValuesIn(kSets), [](const auto& set) {
  std::string name = set.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(RealData, CountsAndHistogram) {
  const RealSet& set = GetParam();
  const std::string path = test::find_real(set.file);
  if (path.empty()) {
    GTEST_SKIP() << "no folder of MFBENCH_DATA holds " << set.file << " (plain or packed)";
  }
  for (const int threads : {1, 3}) {
    for (const std::string& format : {set.format, std::string("auto")}) {
      ReadOptions options;
      options.format = format;
      options.scale = set.scale;
      options.threads = threads;
      RawRatings raw;
      try {
        raw = read_ratings(path, options);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        GTEST_SKIP() << error.what();
      }
      std::vector<std::int64_t> histogram(set.histogram.size());
      for (const float value : raw.values) {
        ++histogram.at(std::lround((value - set.scale.min) / set.scale.step));
      }
      EXPECT_EQ(histogram, set.histogram);
      EXPECT_EQ(static_cast<std::int64_t>(raw.values.size()), set.sizes.lines);
      DuplicateReport report;
      const Ratings ratings = make_ratings(raw, DuplicatePolicy::last, threads, set.name, &report);
      EXPECT_EQ(ratings.nnz(), set.sizes.nnz);
      EXPECT_EQ(ratings.n_users(), set.sizes.n_users);
      EXPECT_EQ(ratings.n_items(), set.sizes.n_items);
      EXPECT_EQ(report.pairs, set.sizes.duplicate_pairs);
    }
  }
}

RawRatings read_real(const std::string& path, const std::string& format) {
  ReadOptions options;
  options.format = format;
  return read_ratings(path, options);
}

// u1.base and u1.test of the authors.
TEST(RealParts, TheFirstFifthOfTheLinesOfMovieLensIsU1) {
  const std::string whole = test::find_real("ml-100k/u.data");
  const std::string base = test::find_real("ml-100k/u1.base");
  const std::string test = test::find_real("ml-100k/u1.test");
  if (whole.empty() || base.empty() || test.empty()) {
    GTEST_SKIP() << "no folder of MFBENCH_DATA holds u.data, u1.base and u1.test of ml-100k";
  }
  const auto raw = [](const std::string& path) { return read_real(path, "movielens-tab"); };
  const JoinedParts cut = join_parts({{kTrain, whole, raw(whole)}}, DuplicatePolicy::error, 2, "u1",
                                     nullptr, LineRange{1, 20000});
  const JoinedParts published = join_parts({{kTrain, base, raw(base)}, {kTest, test, raw(test)}},
                                           DuplicatePolicy::error, 2, "u1");
  EXPECT_EQ(content_hash(cut.ratings, 1), content_hash(published.ratings, 1));
  EXPECT_TRUE(std::ranges::equal(cut.labels, published.labels));
}

TEST(RealParts, ListsOfAmazonBook) {
  for (const auto& [file, pairs, users] :
       {std::tuple("train", 652514, 70679), std::tuple("test", 193920, 70591)}) {
    const std::string name = std::string("amazon-book-kgat/") + file + ".txt";
    const std::string path = test::find_real(name);
    if (path.empty()) GTEST_SKIP() << "no folder of MFBENCH_DATA holds " << name;
    const Ratings ratings =
        make_ratings(read_real(path, "auto"), DuplicatePolicy::error, 2, "amazon-book");
    EXPECT_EQ(ratings.nnz(), pairs);
    EXPECT_EQ(ratings.n_users(), users);
  }
}

}  // namespace
}  // namespace mf
