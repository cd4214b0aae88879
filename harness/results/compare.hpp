// Two result folders side by side: is the second faster, slower, the same, or can it not be told?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/names.hpp"
#include "harness/results/stats.hpp"
#include "harness/spec/metric.hpp"

namespace mf {

enum class Verdict { faster, slower, same, ambiguous };
inline constexpr Names kVerdicts{
    std::to_array<Named<Verdict>>({{"faster", Verdict::faster},
                                   {"slower", Verdict::slower},
                                   {"same", Verdict::same},
                                   {"ambiguous", Verdict::ambiguous}})};

struct Comparison {
  std::string label;                       // algorithm, parameters, data set
  int seeds = 0;                           // present in both
  std::optional<double> epoch_ratio;       // median epoch seconds of the second over the first
  std::optional<Interval> epoch_interval;  // 95 %
  Verdict verdict = Verdict::ambiguous;
  Metric metric = Metric::test_rmse;   // NDCG@100 or the objective for implicit feedback
  std::optional<double> difference;    // median best value of it, second minus first
  std::optional<double> target_ratio;  // time to the target, where both reached it
};

// A ratio whose interval lies within 1 +- margin is `same`; outside 1 on one side and beyond the
// margin: faster or slower; anything else is ambiguous. Cases match when everything but the seed is
// equal; seeds are paired. Damaged files are left out, with a warning on standard error.
std::vector<Comparison> compare_results(const std::string& first, const std::string& second,
                                        double margin);

Verdict judge(double ratio, const Interval& interval, double margin);

Json to_json(const Comparison& comparison);

}  // namespace mf
