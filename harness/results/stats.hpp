// Medians and bootstrap intervals.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mf {

std::optional<double> median(std::vector<double> values);  // nothing of none

struct Interval {
  double low = 0;
  double high = 0;
};

// 95 % percentile bootstrap interval of median(a) / median(b), neither of them empty. Deterministic
// in `seed`.
Interval ratio_interval(const std::vector<double>& a, const std::vector<double>& b,
                        std::uint64_t seed, int resamples = 2000);

}  // namespace mf
