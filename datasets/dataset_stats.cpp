// The numbers of `mfbench data stats`.

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/json/json.hpp"
#include "datasets/data_commands.hpp"
#include "datasets/ratings/feedback.hpp"
#include "datasets/ratings/rating_facts.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

constexpr std::size_t kMostDistinct = 100;  // values shown one by one

// Distinct values with their counts, ascending; null if there are too many.
Json histogram(View<const float> values) {
  std::vector<std::pair<float, std::int64_t>> counts;
  for (const float value : values) {
    const auto it = std::lower_bound(counts.begin(), counts.end(), value,
                                     [](const auto& a, float b) { return a.first < b; });
    if (it != counts.end() && it->first == value) {
      ++it->second;
    } else if (counts.size() == kMostDistinct) {
      return nullptr;
    } else {
      counts.insert(it, {value, 1});
    }
  }
  Json bars = Json::array();
  for (const auto& [value, count] : counts) bars.push_back({{"value", value}, {"count", count}});
  return bars;
}

// For the entries of rows or columns.
Json summary(View<const std::int64_t> offsets) {
  std::vector<std::int64_t> counts;
  for (std::int64_t k = 0; k + 1 < offsets.size(); ++k) {
    counts.push_back(offsets[k + 1] - offsets[k]);
  }
  if (counts.empty()) return nullptr;
  std::sort(counts.begin(), counts.end());
  const std::size_t n = counts.size();
  return {{"min", counts.front()},
          {"median", static_cast<double>(counts[(n - 1) / 2] + counts[n / 2]) / 2},
          {"mean", static_cast<double>(offsets.back()) / static_cast<double>(n)},
          {"max", counts.back()}};
}

Json part_sizes(View<const std::uint8_t> parts) {
  if (parts.empty()) return nullptr;
  const auto count = [&](Part part) { return std::count(parts.begin(), parts.end(), part); };
  return {{"train", count(kTrain)}, {"test", count(kTest)}, {"validation", count(kValidation)}};
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
  ThreadTeam team(threads);
  const MeanAndDeviation level = mean_and_deviation(ratings, team);
  const std::uint64_t hash =
      data.info.content_hash != 0 ? data.info.content_hash : content_hash(ratings, threads);
  Json json = {
      {"name", data.info.name},
      {"look_alike", data.info.look_alike},
      {"source", data.info.source},
      {"source_sha256", data.info.source_hash},
      {"content_hash", hash64_text(hash)},
      {"n_users", ratings.n_users()},
      {"n_items", ratings.n_items()},
      {"nnz", ratings.nnz()},
      {"user_ids", ratings.user_names().empty() ? "integers" : "text"},
      {"item_ids", ratings.item_names().empty() ? "integers" : "text"},
      {"density", cells > 0 ? static_cast<double>(ratings.nnz()) / cells : 0.0},
      {"parts", part_sizes(data.parts.all)},
      {"scale", scale_json(data.info.scale)},
      {"duplicate_pairs", data.info.duplicate_pairs},
      {"duplicate_policy", data.info.duplicate_policy},
      {"mean", level.mean},
      {"standard_deviation", level.deviation},
      {"ratings_per_user", summary(ratings.user_offsets())},
      {"ratings_per_item", summary(key_offsets(ratings.items(), ratings.n_items(), team))}};
  if (!data.info.scale) json["values_look_like"] = kFeedbackNames.of(feedback_of(values));
  if (data.info.implicit) json["implicit"] = data.info.implicit->to_json();
  if (values.empty()) return json;
  if (const Json bars = histogram(values); !bars.is_null()) json["histogram"] = bars;
  return json;
}

}  // namespace mf
