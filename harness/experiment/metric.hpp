// The metrics of a model's quality, a row each. Specs, stop rules, searches, tables, results and,
// by `mfbench schema metrics`, figures read this table. docs/methodology.md has the definitions.
//
// The items of a user are ranked as harness/evaluate/ranking.hpp says. A ranking metric is the mean
// over users of its row's value of the first k ranks; k is part of its key: ndcg_100, recall_20.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/names.hpp"

namespace mf {

// Ranks that an evaluation keeps, and so the largest k.
inline constexpr int kRanks = 100;

// Which of a user's first kRanks items were held out: rank r, from 0, is bit r % 32 of word r / 32.
struct Hits {
  std::array<std::uint32_t, (kRanks + 31) / 32> words{};

  bool at(int rank) const { return (words[rank / 32] >> (rank % 32) & 1U) != 0; }
  void set(int rank) { words[rank / 32] |= std::uint32_t{1} << (rank % 32); }
};

// For one user with `held_out` >= 1 held-out items: the value of the first k ranks.
using RankingValue = double (*)(const Hits& hits, int k, std::int64_t held_out);
double recall_at(const Hits& hits, int k, std::int64_t held_out);  // of the most that k ranks can
                                                                   // hold
double recall_of_all_at(const Hits& hits, int k, std::int64_t held_out);
double ndcg_at(const Hits& hits, int k, std::int64_t held_out);
double average_precision_at(const Hits& hits, int k, std::int64_t held_out);
double reciprocal_rank_at(const Hits& hits, int k, std::int64_t held_out);
double hit_rate_at(const Hits& hits, int k, std::int64_t held_out);
double precision_at(const Hits& hits, int k, std::int64_t held_out);

// The ratings that it is computed on. In a trial of a search the validation part stands in for the
// test part of the ranking metrics.
enum class MetricPart { test, validation, train };
inline constexpr Names kMetricParts{
    std::to_array<Named<MetricPart>>({{"test", MetricPart::test},
                                      {"validation", MetricPart::validation},
                                      {"train", MetricPart::train}})};

// rmse and mae need explicit ratings, the objective implicit feedback, ranking a ranked evaluation.
enum class Measure { rmse, mae, objective, ranking };
inline constexpr Names kMeasures{std::to_array<Named<Measure>>({{"rmse", Measure::rmse},
                                                                {"mae", Measure::mae},
                                                                {"objective", Measure::objective},
                                                                {"ranking", Measure::ranking}})};

struct MetricRow {
  std::string_view name;  // its key; of a ranking metric the part before _k
  std::string_view title;
  Measure measure = Measure::rmse;
  MetricPart part = MetricPart::test;
  bool more_is_better = false;
  bool every_line = false;        // its key is in every trace point, null if it is not computed
  std::string_view watched = {};  // as a monitor, if that is not its key
  RankingValue of_user = nullptr;
  std::array<int, 2> usual = {};  // the k that every ranked case has; 0: none
};

constexpr MetricRow error_row(std::string_view name, std::string_view title, Measure measure,
                              MetricPart part, bool every_line, std::string_view watched = {}) {
  return {name, title, measure, part, false, every_line, watched};
}

constexpr MetricRow ranking_row(std::string_view name, std::string_view title, RankingValue of_user,
                                std::array<int, 2> usual = {}, MetricPart part = MetricPart::test) {
  return {name, title, Measure::ranking, part, true, false, {}, of_user, usual};
}

constexpr MetricRow validation_row(std::string_view name, std::string_view title,
                                   RankingValue of_user) {
  return ranking_row(name, title, of_user, {}, MetricPart::validation);
}

// A line a metric. Names that end in rmse and mae are of explicit ratings.
inline constexpr auto kMetricRows = std::to_array<MetricRow>({
    error_row("test_rmse", "test RMSE", Measure::rmse, MetricPart::test, true, "test"),
    error_row("test_mae", "test MAE", Measure::mae, MetricPart::test, true),
    error_row("train_rmse", "train RMSE", Measure::rmse, MetricPart::train, true, "train"),
    error_row("train_mae", "train MAE", Measure::mae, MetricPart::train, false),
    error_row("validation_rmse", "validation RMSE", Measure::rmse, MetricPart::validation, true,
              "validation"),
    error_row("validation_mae", "validation MAE", Measure::mae, MetricPart::validation, false),
    {"objective", "objective", Measure::objective, MetricPart::train},
    ranking_row("recall", "Recall", recall_at, {20, 50}),
    ranking_row("recall_of_all", "Recall of all", recall_of_all_at),
    ranking_row("ndcg", "NDCG", ndcg_at, {100}),
    ranking_row("map", "MAP", average_precision_at, {10}),
    ranking_row("mrr", "MRR", reciprocal_rank_at),
    ranking_row("hit_rate", "Hit rate", hit_rate_at),
    ranking_row("precision", "Precision", precision_at),
    validation_row("validation_recall", "validation Recall", recall_at),
    validation_row("validation_recall_of_all", "validation Recall of all", recall_of_all_at),
    validation_row("validation_ndcg", "validation NDCG", ndcg_at),
    validation_row("validation_map", "validation MAP", average_precision_at),
    validation_row("validation_mrr", "validation MRR", reciprocal_rank_at),
    validation_row("validation_hit_rate", "validation Hit rate", hit_rate_at),
    validation_row("validation_precision", "validation Precision", precision_at),
});

// A row, and of a ranking metric the k. Metrics are in the order of the table.
class Metric {
 public:
  constexpr Metric() = default;
  constexpr Metric(std::size_t row, int k) : row_(row), k_(k) {}
  // For a row that is known to be there.
  static constexpr Metric named(std::string_view name, int k = 0) {
    std::size_t row = 0;
    while (kMetricRows.at(row).name != name) ++row;
    return {row, k};
  }

  constexpr const MetricRow* operator->() const { return &kMetricRows[row_]; }
  constexpr int k() const { return k_; }
  constexpr bool is_ranking() const { return k_ > 0; }
  constexpr bool is_usual() const {  // of ranking metrics: every ranked case has it
    const auto& usual = operator->()->usual;
    return std::find(usual.begin(), usual.end(), k_) != usual.end();
  }

  std::string key() const;    // test_rmse, ndcg_100: in specs, results and messages
  std::string label() const;  // rmse, ndcg_100: in tables
  std::string title() const;  // test RMSE, NDCG@100: in sentences and at axes
  std::string format(double value) const;
  std::string format_difference(double value) const;

  // Whether `value` is better than `best`.
  constexpr bool is_better(double value, double best) const {
    return operator->()->more_is_better ? value > best : value < best;
  }
  // Whether `value` is at or beyond a target on the better side. NaN is not.
  constexpr bool meets(double value, double target) const {
    return operator->()->more_is_better ? value >= target : value <= target;
  }

  // clang-tidy 14 takes a default comparison for one with 0. NOLINTNEXTLINE(modernize-use-nullptr)
  friend constexpr auto operator<=>(const Metric&, const Metric&) = default;

 private:
  std::size_t row_ = 0;
  int k_ = 0;
};

inline constexpr Metric kTestRmse = Metric::named("test_rmse");
inline constexpr Metric kValidationRmse = Metric::named("validation_rmse");
inline constexpr Metric kObjective = Metric::named("objective");
inline constexpr Metric kNdcg100 = Metric::named("ndcg", 100);
// The main metric of a model: the first of these that it has.
inline constexpr std::array kMainMetrics{kTestRmse, kNdcg100, kObjective};

// By its key, or with ndcg@100 for ndcg_100; empty if there is no such metric.
std::optional<Metric> find_metric(std::string_view word);
// All of the table; of ranking metrics only the ones of every ranked case.
std::vector<Metric> usual_metrics();
std::vector<Metric> usual_ranking();
// The same of the validation part, or the metric itself if that has none.
Metric on_validation(Metric metric);

// The measured metrics of a model. A computed value that is not finite is NaN; a value that was not
// computed is absent.
class MetricValues {
 public:
  std::optional<double> operator[](Metric metric) const {
    const auto found = values_.find(metric);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  void set(Metric metric, double value) { values_[metric] = value; }
  void add(const MetricValues& others) {
    values_.insert(others.values_.begin(), others.values_.end());
  }
  // For rules that take less for better: NaN if it is absent.
  double to_minimize(Metric metric) const {
    const double value = (*this)[metric].value_or(std::numeric_limits<double>::quiet_NaN());
    return metric->more_is_better ? -value : value;
  }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::map<Metric, double> values_;
};

// The users that items are ranked for, and the metrics.
struct RankingSpec {
  std::int64_t users = 0;  // a sample of that many; 0: all
  std::uint64_t seed = 1;  // of the sample, and of the order of equal scores
  std::vector<Metric> metrics = usual_ranking();
};

// A value of a metric that a run or a figure is asked about.
struct TargetSpec {
  Metric metric = kNdcg100;
  double value = 0;
};

}  // namespace mf
