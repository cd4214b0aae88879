// Ratings of any range, for every algorithm: who learns from them ends below the error of
// predicting the mean. Shared by the tests of the host's algorithms and of the device's.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "base/rng.hpp"
#include "harness/test/runs.hpp"
#include "testing/test_support.hpp"

namespace mf::testing {

// Ratings are middle + spread * x, clipped to [low, high]; x has the standard deviation 1.1, as for
// 1 to 5 stars.
struct RatingRange {
  std::string name;
  double low, high, middle, spread;
};

inline const std::vector<RatingRange>& rating_ranges() {
  static const std::vector<RatingRange> all = {
      {"stars", 1, 5, 3.5, 1},           {"stars less 10", -9, -5, -6.5, 1},
      {"jester", -10, 10, 0.7, 5},       {"jester mirrored", -10, 10, -0.7, 5},
      {"centered", -1e9, 1e9, 0, 1},     {"percent", 0, 100, 60, 25},
      {"percent less", -100, 0, -40, 25}};
  return all;
}

// The files of a range, imported into a cache that ends with the test.
class RangeFiles {
 public:
  RangeFiles() { environment_.set("MFBENCH_CACHE", folder_ / "cache"); }
  std::string data(const RatingRange& range) const { return folder_ / range.name + ".csv"; }
  std::string results(const std::string& name) const { return folder_ / name; }

 private:
  TempFolder folder_;
  test::Environment environment_;
};

// 260 users, 130 items, two of ten pairs: biases, three factors and noise, numbers only from
// `seed`. The mean of the whole file is 0 if the middle is.
inline std::string write_ratings(const RatingRange& range, const RangeFiles& files) {
  constexpr int kUsers = 260;
  constexpr int kItems = 130;
  constexpr int kRank = 3;
  struct Row {
    double bias;
    double factors[kRank];
  };
  Rng rng(7);
  const auto draw = [&](int count) {
    std::vector<Row> rows(count);
    for (Row& row : rows) {
      row.bias = 0.5 * rng.normal();
      for (double& x : row.factors) x = 0.6 * rng.normal();
    }
    return rows;
  };
  const auto users = draw(kUsers);
  const auto items = draw(kItems);
  struct Line {
    int user, item;
    double value;
  };
  std::vector<Line> lines;
  double sum = 0;
  for (int u = 0; u < kUsers; ++u) {
    for (int i = 0; i < kItems; ++i) {
      if (rng.uniform() >= 0.2) continue;
      double x = users[u].bias + items[i].bias + 0.3 * rng.normal();
      for (int k = 0; k < kRank; ++k) x += users[u].factors[k] * items[i].factors[k];
      lines.push_back({u, i, x});
      sum += x;
    }
  }
  const std::string path = files.data(range);
  std::ofstream out(path);
  out << "user,item,rating\n";
  for (const Line& line : lines) {
    const double x = line.value - sum / static_cast<double>(lines.size());
    const double value = std::clamp(range.middle + range.spread * x, range.low, range.high);
    out << line.user << ',' << line.item << ',' << value << '\n';
  }
  return path;
}

// An entry of a spec: the algorithm with all its models, starts and kinds of storage.
// Regularization is in proportion to the spread, for which the defaults know only stars.
inline Json entry_of(const AlgorithmInfo& info, const RatingRange& range) {
  Json entry = {{"name", info.name}, {"factors", 8}};
  const std::set<std::string> swept = {"model",   "center",    "start",
                                       "storage", "precision", "a_storage"};
  for (const ParamSpec& param : info.params) {
    if (swept.count(param.name) == 1) entry[param.name] = param.choices;
    if (param.name == "reg") entry["reg"] = 0.04 * range.spread;
    if (param.name == "reg_scale") entry["reg_scale"] = "rows";
    if (param.name == "threads") entry["threads"] = 1;
    if (param.name == "blocks") entry["blocks"] = 4;
  }
  // An iteration of cu2rec takes one rating of each user, of some twenty; its model is biased.
  const bool one_rating = info.family == "cu2rec";
  // Factors grow with the root of the level, and so does a step.
  const double level = one_rating ? range.spread : std::max(range.spread, std::abs(range.middle));
  if (info.uses_learning_rate) entry["learning_rate"] = 0.05 / std::max(1.0, level);
  entry["stop"] = {{"epochs", one_rating ? 2000 : info.uses_learning_rate ? 60 : 12}};
  return entry;
}

// Libraries have their own limits and may not be installed; the rulers are not algorithms, and
// baselines have no factors to learn.
inline bool is_ours(const AlgorithmInfo& info) {
  return info.family != "peer" && info.family != "ruler" && info.family != "baseline";
}

// Every algorithm for ratings of this hardware, on every range. The algorithms it ran.
inline std::set<std::string> expect_all_beat_the_mean(Hardware hardware) {
  std::set<std::string> ran;
  const RangeFiles files;
  for (const RatingRange& range : rating_ranges()) {
    const std::string file = write_ratings(range, files);
    Json algorithms = Json::array();
    for (const AlgorithmInfo* info : all_algorithms()) {
      if (info->hardware != hardware || info->implicit || !is_ours(*info)) continue;
      algorithms.push_back(entry_of(*info, range));
      ran.insert(info->name);
    }
    const Spec spec = parse_spec({{"name", "ranges"},
                                  {"datasets", {{{"path", file}}}},
                                  {"evaluate", {{"every", 2000}}},
                                  {"algorithms", algorithms}},
                                 "ranges.json");
    run_in(files.results(range.name), spec);
    for (const Case& item : spec.cases) {
      const ResultFile result = result_of(files.results(range.name), item);
      const std::string what =
          range.name + ", " + item.algorithm + " " + item.params.to_json().dump();
      EXPECT_EQ(result.footer["status"], "completed") << what << ": " << result.footer;
      if (!result.footer["final_test_rmse"].is_number()) continue;
      const double mean = result.footer["trivial_error"];
      EXPECT_NEAR(mean, 1.1 * range.spread, 0.25 * range.spread) << what;
      EXPECT_LT(result.footer["final_test_rmse"].get<double>(), 0.8 * mean) << what;
    }
  }
  return ran;
}

// Every algorithm for implicit feedback of this hardware says why it does not take negative values.
inline std::set<std::string> expect_negative_values_are_refused(Hardware hardware) {
  std::set<std::string> ran;
  const RangeFiles files;
  const std::string file = write_ratings(rating_ranges()[1], files);
  for (const AlgorithmInfo* info : all_algorithms()) {
    if (info->hardware != hardware || !info->implicit || !is_ours(*info)) continue;
    ran.insert(info->name);
    const Spec spec = parse_spec({{"name", "negative"},
                                  {"datasets", {{{"path", file}}}},
                                  {"algorithms", {{{"name", info->name}, {"factors", 8}}}}},
                                 "negative.json");
    const ResultFile result = run_one(spec);
    EXPECT_EQ(result.footer["status"], "error") << info->name;
    const std::string reason = result.footer["stop_reason"];
    EXPECT_TRUE(contains(reason, "implicit feedback takes values of 0 (not observed) and above"))
        << info->name << ": " << reason;
  }
  return ran;
}

}  // namespace mf::testing
