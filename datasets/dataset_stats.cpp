// The numbers of `mfbench data stats`.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "datasets/data_commands.hpp"

namespace mf {
namespace {

constexpr std::size_t kMostDistinct = 100;  // values shown one by one

struct ValueCount {
  float value;
  std::int64_t count;
};

// Distinct values with their counts, ascending; empty where there are more than kMostDistinct.
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

// The smallest value with at least the share `q` of the values at or below it.
Json quantiles(std::span<const float> values) {
  std::vector<float> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  Json json = Json::array();
  for (const double q : {0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0}) {
    const auto rank = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(sorted.size())));
    json.push_back({{"share", q}, {"value", sorted[std::max<std::int64_t>(rank, 1) - 1]}});
  }
  return json;
}

double standard_deviation(std::span<const float> values, double mean) {
  double sum = 0;
  for (const float value : values) sum += (value - mean) * (value - mean);
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

Json summary(std::vector<std::int64_t> counts) {
  if (counts.empty()) return nullptr;
  std::sort(counts.begin(), counts.end());
  const std::size_t n = counts.size();
  double sum = 0;
  for (const auto count : counts) sum += static_cast<double>(count);
  const double median = static_cast<double>(counts[(n - 1) / 2] + counts[n / 2]) / 2;
  return {{"min", counts.front()},
          {"median", median},
          {"mean", sum / static_cast<double>(n)},
          {"max", counts.back()}};
}

Json per_user(const Ratings& ratings) {
  std::vector<std::int64_t> counts;
  const auto offsets = ratings.user_offsets();
  for (std::int64_t u = 0; u < ratings.n_users(); ++u)
    counts.push_back(offsets[u + 1] - offsets[u]);
  return summary(std::move(counts));
}

Json per_item(const Ratings& ratings) {
  std::vector<std::int64_t> counts(ratings.n_items(), 0);
  for (const auto item : ratings.items()) ++counts[item];
  return summary(std::move(counts));
}

Json part_sizes(std::span<const std::uint8_t> parts) {
  if (parts.empty()) return nullptr;
  const auto size = [&](Part part) { return std::count(parts.begin(), parts.end(), part); };
  return {{"train", size(kTrain)}, {"test", size(kTest)}, {"validation", size(kValidation)}};
}

Json scale_json(const std::optional<RatingScale>& scale) {
  if (!scale) return nullptr;
  return {{"min", scale->min}, {"max", scale->max}, {"step", scale->step}};
}

}  // namespace

Json dataset_stats(const Dataset& data, int threads) {
  const Ratings& ratings = data.ratings;
  const auto values = ratings.values();
  const double cells = static_cast<double>(ratings.n_users()) * ratings.n_items();
  const double mean = mean_rating(ratings);
  const std::uint64_t hash =
      data.info.content_hash != 0 ? data.info.content_hash : content_hash(ratings, threads);
  Json json = {{"name", data.info.name},
               {"look_alike", data.info.look_alike},
               {"source", data.info.source},
               {"source_sha256", data.info.source_hash},
               {"content_hash", fmt::format("{:016x}", hash)},
               {"n_users", ratings.n_users()},
               {"n_items", ratings.n_items()},
               {"nnz", ratings.nnz()},
               {"density", cells > 0 ? static_cast<double>(ratings.nnz()) / cells : 0.0},
               {"parts", part_sizes(data.parts)},
               {"scale", scale_json(data.info.scale)},
               {"duplicate_pairs", data.info.duplicate_pairs},
               {"duplicate_policy", data.info.duplicate_policy},
               {"mean", mean},
               {"standard_deviation", standard_deviation(values, mean)},
               {"ratings_per_user", per_user(ratings)},
               {"ratings_per_item", per_item(ratings)}};
  const auto counts = histogram(values);
  Json bars = Json::array();
  for (const auto& [value, count] : counts) bars.push_back({{"value", value}, {"count", count}});
  if (!counts.empty()) json["histogram"] = bars;
  if (counts.empty() && !values.empty()) json["quantiles"] = quantiles(values);
  return json;
}

}  // namespace mf
