// Published data sets, where $MFBENCH_DATA names folders that hold them: counts and histograms as
// their authors (or a count of the files by other tools) give them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "datasets/readers/readers.hpp"

namespace mf {
namespace {

struct RealSet {
  std::string name, file, format;
  std::int64_t lines, nnz;
  std::int32_t n_users, n_items;
  RatingScale scale;
  std::map<float, std::int64_t> histogram;  // of the lines
  std::int64_t duplicate_pairs = 0;
};

void PrintTo(const RealSet& set, std::ostream* out) { *out << set.name; }

const std::vector<RealSet>& real_sets() {
  static const std::vector<RealSet> sets = {
      {"ml-100k",
       "ml-100k/u.data",
       "movielens-tab",
       100000,
       100000,
       943,
       1682,
       {1, 5, 1},
       {{1, 6110}, {2, 11370}, {3, 27145}, {4, 34174}, {5, 21201}}},
      {"ml-1m",
       "ml-1m/ratings.u-m-r.dat",
       "double-colon",
       1000209,
       1000209,
       6040,
       3706,
       {1, 5, 1},
       {{1, 56174}, {2, 107557}, {3, 261197}, {4, 348971}, {5, 226310}}},
      {"movietweetings-100k",
       "movietweetings-100k/ratings.dat",
       "double-colon",
       100000,
       100000,
       16554,
       10506,
       {0, 10, 1},
       {{0, 12},
        {1, 1212},
        {2, 1124},
        {3, 1844},
        {4, 3367},
        {5, 6726},
        {6, 12944},
        {7, 22229},
        {8, 24145},
        {9, 14005},
        {10, 12392}}},
      {"filmtrust",
       "filmtrust/ratings.txt",
       "triples",
       35497,
       35494,
       1508,
       2071,
       {0.5F, 4, 0.5F},
       {{0.5F, 1060},
        {1, 1141},
        {1.5F, 1601},
        {2, 3113},
        {2.5F, 4392},
        {3, 7877},
        {3.5F, 7142},
        {4, 9171}},
       3},
  };
  return sets;
}

// Empty where no folder of $MFBENCH_DATA holds the file, plain or packed.
std::string find(const std::string& file) {
  const char* folders = std::getenv("MFBENCH_DATA");
  std::istringstream list(folders != nullptr ? folders : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    for (const char* packed : {"", ".xz", ".gz", ".zst", ".bz2", ".zip"}) {
      const auto path = std::filesystem::path(folder) / (file + packed);
      if (std::filesystem::is_regular_file(path)) return path.string();
    }
  }
  return {};
}

class RealData : public testing::TestWithParam<RealSet> {};

INSTANTIATE_TEST_SUITE_P(Sets, RealData, testing::ValuesIn(real_sets()), [](const auto& set) {
  std::string name = set.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(RealData, CountsAndHistogram) {
  const RealSet& set = GetParam();
  const std::string path = find(set.file);
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
      std::map<float, std::int64_t> histogram;
      for (const float value : raw.values) ++histogram[value];
      EXPECT_EQ(histogram, set.histogram);
      EXPECT_EQ(static_cast<std::int64_t>(raw.values.size()), set.lines);
      DuplicateReport report;
      const Ratings ratings = make_ratings(raw, DuplicatePolicy::last, threads, set.name, &report);
      EXPECT_EQ(ratings.nnz(), set.nnz);
      EXPECT_EQ(ratings.n_users(), set.n_users);
      EXPECT_EQ(ratings.n_items(), set.n_items);
      EXPECT_EQ(report.pairs, set.duplicate_pairs);
    }
  }
}

}  // namespace
}  // namespace mf
