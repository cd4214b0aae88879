#include "harness/results/compare/compared_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace mf {
namespace {

using Samples = std::pair<std::vector<double>, std::vector<double>>;

// A time of zero was not measured, and has no logarithm.
Numbers logarithms(Numbers times) {
  std::erase_if(times, [](const auto& item) { return item.second <= 0; });
  for (auto& [repeat, value] : times) value = std::log(value);
  return times;
}

std::vector<double> values_of(const Numbers& numbers) {
  std::vector<double> values;
  for (const auto& [repeat, value] : numbers) values.push_back(value);
  return values;
}

Samples in_pairs(const Numbers& a, const Numbers& b) {
  Samples pairs;
  for (const auto& [repeat, value] : a) {
    const auto other = b.find(repeat);
    if (other == b.end()) continue;
    pairs.first.push_back(value);
    pairs.second.push_back(other->second);
  }
  return pairs;
}

Side side_of(const Numbers& numbers) {
  Side side;
  side.runs = static_cast<int>(numbers.size());
  for (const auto& [repeat, value] : numbers) side.never += std::isinf(value) ? 1 : 0;
  side.median = median(values_of(numbers));
  return side;
}

Estimate estimate(const Samples& samples, bool paired, bool by_ranks) {
  const auto& [a, b] = samples;
  if (by_ranks) return difference_by_ranks(a, b);
  if (!paired) return difference_of_means(a, b);
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(b[i] - a[i]);
  return mean_of(differences);
}

bool is_significant(double p_adjusted) { return p_adjusted < 1 - kLevel; }

}  // namespace

Compared compare_values(const Numbers& a, const Numbers& b) {
  Compared out;
  out.first = side_of(a);
  out.second = side_of(b);
  if (a.empty() || b.empty()) return out;
  const bool by_ranks = out.first.never + out.second.never > 0;
  Samples samples = in_pairs(a, b);
  const bool enough = std::min(a.size(), b.size()) >= kFewestRuns;
  const bool paired =
      !by_ranks && (enough ? samples.first.size() >= kFewestRuns : !samples.first.empty());
  if (paired)
    out.pairs = static_cast<int>(samples.first.size());
  else
    samples = {values_of(a), values_of(b)};
  const auto middle = [&](const std::vector<double>& values) {
    return by_ranks ? *median(values) : mean(values);
  };
  out.first.middle = middle(samples.first);
  out.second.middle = middle(samples.second);
  const double value = *out.second.middle - *out.first.middle;
  if (!std::isnan(value)) out.value = value;
  if (!enough) return out;
  const Estimate found = estimate(samples, paired, by_ranks);
  out.interval = found.interval;
  out.p = found.p;
  out.verdict = Verdict::ambiguous;
  return out;
}

Compared compare_times(const Numbers& a, const Numbers& b) {
  Compared out = compare_values(logarithms(a), logarithms(b));
  for (auto* number :
       {&out.first.median, &out.second.median, &out.first.middle, &out.second.middle, &out.value}) {
    if (*number) *number = std::exp(**number);
  }
  if (out.interval) out.interval = {std::exp(out.interval->low), std::exp(out.interval->high)};
  return out;
}

Verdict judge_time(double ratio, const Interval& interval, double p_adjusted, double margin) {
  if (interval.low >= 1 - margin && interval.high <= 1 + margin) return Verdict::same;
  if (!is_significant(p_adjusted)) return Verdict::ambiguous;
  if (ratio < 1 - margin) return Verdict::faster;
  if (ratio > 1 + margin) return Verdict::slower;
  return Verdict::ambiguous;
}

Verdict judge_quality(Metric metric, double difference, const Interval& interval, double p_adjusted,
                      double margin) {
  if (interval.low >= -margin && interval.high <= margin) return Verdict::same;
  if (!is_significant(p_adjusted) || std::abs(difference) <= margin) return Verdict::ambiguous;
  return metric.is_better(difference, 0) ? Verdict::better : Verdict::worse;
}

}  // namespace mf
