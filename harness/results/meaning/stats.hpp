// Medians, and tests and intervals of how far two samples lie apart. The unit of a sample is a run:
// points of one run are not independent.
#pragma once

#include <optional>
#include <vector>

namespace mf {

double mean(const std::vector<double>& values);
std::optional<double> median(std::vector<double> values);  // nothing of none

struct Interval {
  double low = 0;
  double high = 0;
};

inline constexpr double kLevel = 0.95;  // of every interval; tests are two-sided at 1 - kLevel

// A value with its interval, and the two-sided p of "it is 0".
struct Estimate {
  double value = 0;
  Interval interval;
  double p = 1;
};

// Student's t distribution: P(|T| > t) for t >= 0 and degrees of freedom > 0, which need not be
// whole.
double student_t_tails(double t, double freedom);

// The t with P(|T| > t) = tails, for 0 < tails < 1.
double student_t_limit(double tails, double freedom);

// Student's t: the mean, at least two finite values. For pairs, give their differences.
Estimate mean_of(const std::vector<double>& values);

// Welch's t (B. L. Welch, Biometrika 34, 1947): mean of b less mean of a, at least two finite
// values a side, whose variances may differ.
Estimate difference_of_means(const std::vector<double>& a, const std::vector<double>& b);

// Median of b less median of a, for values that may be +infinity: NaN if both medians are. p is the
// exact one of the rank sum over all ways to share out the values, ties with their mean rank
// (Wilcoxon; H. B. Mann, D. R. Whitney, Ann. Math. Stat. 18, 1947). The interval inverts it: the
// differences b_j - a_i that it cannot tell from the shift (J. L. Hodges, E. L. Lehmann, Ann. Math.
// Stat. 34, 1963); its ends are infinite if the samples are too small. Neither is empty.
Estimate difference_by_ranks(const std::vector<double>& a, const std::vector<double>& b);

// p adjusted so that "below 1 - kLevel" errs in any of all tests with at most that probability,
// however they depend on each other (S. Holm, Scand. J. Stat. 6, 1979).
std::vector<double> holm(const std::vector<double>& p);

}  // namespace mf
