// Two result folders side by side: is the second faster, slower, the same, or can it not be told?
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "harness/stats.hpp"

namespace mf {

enum class Verdict { faster, slower, same, ambiguous };
std::string to_string(Verdict verdict);

struct Comparison {
  std::string label;        // algorithm, parameters, data set
  int seeds = 0;            // present in both
  double epoch_ratio = 0;   // median epoch seconds of the second over the first
  Interval epoch_interval;  // 95 %
  Verdict verdict = Verdict::ambiguous;
  double rmse_difference = 0;  // median best test RMSE, second minus first
  double target_ratio = 0;     // time to the target RMSE, NaN where there is none or it was missed
};

// A ratio whose interval lies within 1 +- margin is `same`; outside 1 on one side and beyond the
// margin: faster or slower; anything else is ambiguous. Cases match when everything but the seed is
// equal; seeds are paired.
std::vector<Comparison> compare_results(const std::string& first, const std::string& second,
                                        double margin);

Verdict judge(double ratio, const Interval& interval, double margin);

Json to_json(const Comparison& comparison);

}  // namespace mf
