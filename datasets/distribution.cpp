#include "datasets/distribution.hpp"

#include <algorithm>
#include <cmath>

namespace mf {
namespace {

constexpr std::size_t kMostDistinct = 100;  // values shown one by one

}  // namespace

std::vector<ValueCount> histogram(std::span<const float> values) {
  std::vector<ValueCount> counts;
  for (const float value : values) {
    const auto it = std::lower_bound(counts.begin(), counts.end(), value,
                                     [](const ValueCount& a, float b) { return a.value < b; });
    if (it != counts.end() && it->value == value) {
      ++it->count;
    } else {
      counts.insert(it, {value, 1});
      if (counts.size() > kMostDistinct) return {};
    }
  }
  return counts;
}

std::vector<Quantile> quantiles(std::span<const float> values) {
  std::vector<float> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<Quantile> out;
  for (const double q : {0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0}) {
    const auto rank = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(sorted.size())));
    out.push_back({q, sorted[std::max<std::int64_t>(rank, 1) - 1]});
  }
  return out;
}

double standard_deviation(std::span<const float> values, double mean) {
  double sum = 0;
  for (const float value : values) sum += (value - mean) * (value - mean);
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

std::vector<std::int64_t> ratings_per_user(const Ratings& ratings) {
  std::vector<std::int64_t> counts;
  const auto offsets = ratings.user_offsets();
  for (std::int64_t u = 0; u < ratings.n_users(); ++u)
    counts.push_back(offsets[u + 1] - offsets[u]);
  return counts;
}

std::vector<std::int64_t> ratings_per_item(const Ratings& ratings) {
  std::vector<std::int64_t> counts(ratings.n_items(), 0);
  for (const auto item : ratings.items()) ++counts[item];
  return counts;
}

std::int64_t count_part(std::span<const std::uint8_t> parts, std::uint8_t part) {
  return std::count(parts.begin(), parts.end(), part);
}

CountSummary summarize(std::vector<std::int64_t> counts) {
  std::sort(counts.begin(), counts.end());
  const std::size_t n = counts.size();
  double sum = 0;
  for (const auto count : counts) sum += static_cast<double>(count);
  const double median = static_cast<double>(counts[(n - 1) / 2] + counts[n / 2]) / 2;
  return {counts.front(), median, sum / static_cast<double>(n), counts.back()};
}

}  // namespace mf
