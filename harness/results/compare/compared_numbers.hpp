// One number of each run of a configuration, on two sides: their difference, and the verdict on it.
#pragma once

#include <map>
#include <optional>

#include "base/json/names.hpp"
#include "harness/experiment/metric.hpp"
#include "harness/results/compare/compared_case.hpp"
#include "harness/results/meaning/stats.hpp"

namespace mf {

inline constexpr int kFewestRuns = 3;  // a side, for an interval and a verdict

enum class Verdict { faster, slower, better, worse, same, ambiguous, too_few, contended, unlike };
inline constexpr Names kVerdicts{
    std::to_array<Named<Verdict>>({{"faster", Verdict::faster},
                                   {"slower", Verdict::slower},
                                   {"better", Verdict::better},
                                   {"worse", Verdict::worse},
                                   {"same", Verdict::same},
                                   {"ambiguous", Verdict::ambiguous},
                                   {"too few runs", Verdict::too_few},
                                   {"contended", Verdict::contended},
                                   {"of different data", Verdict::unlike}})};

// One number a run, on both sides: a time, compared as second over first, or the value of a
// metric, as second less first.
struct Side {
  int runs = 0;
  int contended = 0;             // of them, runs that shared their machine
  int never = 0;                 // of them, runs without an answer: infinitely late
  std::optional<double> median;  // of all runs
  std::optional<double> middle;  // geometric mean of times, mean of values; medians beside `never`
};
struct Compared {
  Side first, second;
  int pairs = 0;                     // that it was computed from; 0: unpaired
  std::optional<double> value;       // ratio or difference; empty if undefined
  std::optional<Interval> interval;  // 95 %, of this one number; ends may be infinite
  std::optional<double> p;           // of "no difference"
  std::optional<double> p_adjusted;  // Holm's, over all rows
  Verdict verdict = Verdict::too_few;

  int missing(const Side& side) const {
    return side.runs < kFewestRuns ? kFewestRuns - side.runs : 0;
  }
};

using Numbers = std::map<Repeat, double>;  // one a run; kNever for one without an answer

// Differences, second less first. With at least kFewestRuns repeats in common these are paired;
// else all runs of a side stand against all of the other, and also, by ranks, if one is infinite.
// The verdict is too_few, or ambiguous until it is judged.
Compared compare_values(const Numbers& first, const Numbers& second);

// Ratios, second over first, by the same on logarithms. A time of zero was not measured, and is
// left out.
Compared compare_times(const Numbers& first, const Numbers& second);

// `same` if the interval lies within 1 +- margin; faster or slower if the adjusted p is below 5 %
// and the ratio beyond the margin.
Verdict judge_time(double ratio, const Interval& interval, double p_adjusted, double margin);

// The same of a difference, whose margin is in units of the metric.
Verdict judge_quality(Metric metric, double difference, const Interval& interval, double p_adjusted,
                      double margin);

}  // namespace mf
