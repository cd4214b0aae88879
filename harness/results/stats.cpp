#include "harness/results/stats.hpp"

#include <algorithm>

#include "base/rng.hpp"

namespace mf {
namespace {

std::vector<double> resample(const std::vector<double>& values, Rng& rng) {
  std::vector<double> drawn(values.size());
  for (auto& value : drawn) value = values[rng.below(values.size())];
  return drawn;
}

}  // namespace

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Interval ratio_interval(const std::vector<double>& a, const std::vector<double>& b,
                        std::uint64_t seed, int resamples) {
  Rng rng(seed);
  std::vector<double> ratios(resamples);
  for (auto& ratio : ratios) {
    const double top = *median(resample(a, rng));
    ratio = top / *median(resample(b, rng));
  }
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<std::int64_t>(share * static_cast<double>(std::ssize(ratios) - 1))];
  };
  return {at(0.025), at(0.975)};
}

}  // namespace mf
