// What the quality of a model is measured by. Ranking metrics are defined in
// harness/evaluate/ranking.hpp, the objective in algorithms/core/implicit.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/names.hpp"

namespace mf {

enum class Metric { test_rmse, objective, recall_20, recall_50, ndcg_100, map_10 };
inline constexpr Names kMetricNames{std::to_array<Named<Metric>>({{"test_rmse", Metric::test_rmse},
                                                                  {"objective", Metric::objective},
                                                                  {"recall_20", Metric::recall_20},
                                                                  {"recall_50", Metric::recall_50},
                                                                  {"ndcg_100", Metric::ndcg_100},
                                                                  {"map_10", Metric::map_10}})};

constexpr bool is_ranking(Metric metric) { return metric >= Metric::recall_20; }
constexpr bool more_is_better(Metric metric) { return is_ranking(metric); }

// As tables call it.
inline std::string label_of(Metric metric) {
  return metric == Metric::test_rmse ? "rmse" : kMetricNames.of(metric);
}
// With the digits that matter: an objective may be any size.
std::string format_metric(Metric metric, double value);

// Whether `value` meets a target: at or beyond it on the better side. NaN meets none.
constexpr bool meets(Metric metric, double value, double target) {
  return more_is_better(metric) ? value >= target : value <= target;
}

// Whether `value` is better than `best`.
constexpr bool is_better(Metric metric, double value, double best) {
  return more_is_better(metric) ? value > best : value < best;
}

// What a model was measured by. A value that was computed and is not finite is NaN; one that was
// not computed is absent.
class MetricValues {
 public:
  const std::optional<double>& operator[](Metric metric) const { return values_[index(metric)]; }
  std::optional<double>& operator[](Metric metric) { return values_[index(metric)]; }

 private:
  static constexpr std::size_t index(Metric metric) { return static_cast<std::size_t>(metric); }
  std::array<std::optional<double>, kMetricNames.table.size()> values_;
};

// Whom the items are ranked for.
struct RankingSpec {
  std::int64_t users = 0;  // a sample of that many; 0: all
  std::uint64_t seed = 1;  // of the sample
};

// A value of a metric that a run or a figure is asked about.
struct TargetSpec {
  Metric metric = Metric::ndcg_100;
  double value = 0;
};

}  // namespace mf
