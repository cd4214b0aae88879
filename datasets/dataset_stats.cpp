// The numbers of `mfbench data stats`.

#include <span>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/json/json.hpp"
#include "datasets/data_commands.hpp"
#include "datasets/distribution.hpp"

namespace mf {
namespace {

Json summary(std::vector<std::int64_t> counts) {
  if (counts.empty()) return nullptr;
  const CountSummary of = summarize(std::move(counts));
  return {{"min", of.min}, {"median", of.median}, {"mean", of.mean}, {"max", of.max}};
}

Json part_sizes(std::span<const std::uint8_t> parts) {
  if (parts.empty()) return nullptr;
  return {{"train", count_part(parts, kTrain)},
          {"test", count_part(parts, kTest)},
          {"validation", count_part(parts, kValidation)}};
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
               {"content_hash", hash64_text(hash)},
               {"n_users", ratings.n_users()},
               {"n_items", ratings.n_items()},
               {"nnz", ratings.nnz()},
               {"user_ids", ratings.user_names().empty() ? "integers" : "text"},
               {"item_ids", ratings.item_names().empty() ? "integers" : "text"},
               {"density", cells > 0 ? static_cast<double>(ratings.nnz()) / cells : 0.0},
               {"parts", part_sizes(data.parts)},
               {"scale", scale_json(data.info.scale)},
               {"duplicate_pairs", data.info.duplicate_pairs},
               {"duplicate_policy", data.info.duplicate_policy},
               {"mean", mean},
               {"standard_deviation", standard_deviation(values, mean)},
               {"ratings_per_user", summary(ratings_per_user(ratings))},
               {"ratings_per_item", summary(ratings_per_item(ratings))}};
  if (data.info.implicit) json["implicit"] = data.info.implicit->to_json();
  const auto counts = histogram(values);
  Json bars = Json::array();
  for (const auto& [value, count] : counts) bars.push_back({{"value", value}, {"count", count}});
  if (!counts.empty()) json["histogram"] = bars;
  if (counts.empty() && !values.empty()) {
    json["quantiles"] = Json::array();
    for (const auto& [share, value] : quantiles(values)) {
      json["quantiles"].push_back({{"share", share}, {"value", value}});
    }
  }
  return json;
}

}  // namespace mf
