#include "datasets/synthetic/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "datasets/synthetic/alias_table.hpp"
#include "datasets/synthetic/synthetic_degrees.hpp"
#include "datasets/synthetic/synthetic_items.hpp"
#include "datasets/synthetic/synthetic_model.hpp"
#include "datasets/synthetic/synthetic_profile.hpp"

namespace mf {
namespace {

using synthetic::ItemCatalog;
using synthetic::ItemSampler;
using synthetic::Profile;
using synthetic::RatingModel;
using synthetic::UserStreams;

// Sets of one seed share nothing.
std::uint64_t seed_of(const Profile& profile, std::uint64_t seed) {
  return mix64(seed) ^ hash64_of(std::span<const char>(profile.name));
}

// Draws users and the items they rate; the same user the same, however often.
class Raters {
 public:
  Raters(const ItemCatalog& catalog, const RatingModel& model, const UserStreams& streams,
         View<const std::int64_t> offsets)
      : catalog_(catalog), model_(model), streams_(streams), offsets_(offsets) {}

  std::int64_t n_users() const { return offsets_.size() - 1; }
  std::int64_t begin(std::int64_t u) const { return offsets_[u]; }
  std::int64_t end(std::int64_t u) const { return offsets_[u + 1]; }

  // Fills items, of the length of the user's row. Leaves the stream at the start of the ratings.
  synthetic::User draw(std::int64_t u, ItemSampler& sampler, View<std::int32_t> items,
                       Rng& rng) const {
    rng = streams_.stream(u);
    const synthetic::User user = model_.draw_user(rng.uniform(), rng);
    ItemSampler::Chance chance;
    if (model_.selects()) chance = [&](std::int32_t i) { return model_.chance(user, i); };
    sampler.draw(catalog_.owed(begin(u), end(u)), chance, rng, items);
    return user;
  }

 private:
  const ItemCatalog& catalog_;
  const RatingModel& model_;
  const UserStreams& streams_;
  View<const std::int64_t> offsets_;
};

// Mean deviation of the model from its mean over the ratings of at most 4096 users, evenly spaced.
double mean_deviation(const Raters& raters, const ItemCatalog& catalog, const RatingModel& model) {
  const std::int64_t stride = raters.n_users() / 4096 + 1;
  ItemSampler sampler(catalog);
  Rng rng(0);
  std::vector<std::int32_t> items;
  double sum = 0, count = 0;
  for (std::int64_t u = 0; u < raters.n_users(); u += stride) {
    items.resize(raters.end(u) - raters.begin(u));
    const synthetic::User user = raters.draw(u, sampler, items, rng);
    sum += model.deviation_sum(user, items);
    count += static_cast<double>(items.size());
  }
  return sum / count;
}

// Values of the items that the sampler has just drawn for this user.
void draw_values(const Profile& profile, const RatingModel& model, const synthetic::User& user,
                 View<const std::int32_t> items, const ItemSampler& sampler, Rng& rng,
                 View<float> values) {
  switch (profile.values) {
    case synthetic::Values::ratings:
      return model.draw_values(user, items, rng, values);
    case synthetic::Values::ones:
      std::ranges::fill(values, 1.0F);
      return;
    case synthetic::Values::counts:
      for (std::int64_t k = 0; k < items.size(); ++k) {
        values[k] = static_cast<float>(profile.model.taste_gain * sampler.matches(items[k]));
      }
      return model.draw_counts(user, items, rng, values);
  }
}

// Each user's ratings are written in place: nothing but the result grows with nnz.
void draw_ratings(Ratings::Arrays& a, const Raters& raters, const ItemCatalog& catalog,
                  const Profile& profile, const RatingModel& model, ThreadTeam& team) {
  const std::int64_t chunk = std::clamp<std::int64_t>(raters.n_users() / 512, 1, 4096);
  team.for_chunks(raters.n_users(), chunk, [&](std::int64_t first, std::int64_t last) {
    ItemSampler sampler(catalog);
    Rng rng(0);
    for (std::int64_t u = first; u < last; ++u) {
      const std::int64_t begin = raters.begin(u), end = raters.end(u);
      const auto items = View(a.items).part(begin, end);
      const synthetic::User user = raters.draw(u, sampler, items, rng);
      draw_values(profile, model, user, items, sampler, rng, View(a.values).part(begin, end));
      std::ranges::fill(View(a.users).part(begin, end), static_cast<std::int32_t>(u));
    }
  });
}

}  // namespace

const std::vector<std::string>& look_alike_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Profile& profile : synthetic::profiles()) all.push_back(profile.name);
    return all;
  }();
  return names;
}

Shape look_alike_shape(const std::string& like, double scale_factor) {
  return synthetic::scaled_shape(synthetic::find_profile(like), scale_factor);
}

Dataset make_look_alike(const std::string& like, double scale_factor, std::uint64_t seed,
                        int threads) {
  const Profile& profile = synthetic::find_profile(like);
  const Shape shape = synthetic::scaled_shape(profile, scale_factor);
  const std::uint64_t own_seed = seed_of(profile, seed);
  ThreadTeam team(threads);

  const UserStreams streams(own_seed);
  const ItemCatalog catalog(profile, shape, own_seed);
  RatingModel model(profile, catalog, own_seed);
  Ratings::Arrays arrays;
  arrays.user_offsets = synthetic::draw_user_offsets(profile, shape, streams, team);
  const Raters raters(catalog, model, streams, arrays.user_offsets);
  model.lower_mean(mean_deviation(raters, catalog, model));
  arrays.users.resize(shape.nnz);
  arrays.items.resize(shape.nnz);
  arrays.values.resize(shape.nnz);
  draw_ratings(arrays, raters, catalog, profile, model, team);
  arrays.user_ids = synthetic::one_to(shape.n_users);
  arrays.item_ids = synthetic::one_to(shape.n_items);

  Dataset data;
  data.ratings = Ratings(std::move(arrays));
  data.info.name = like + " look-alike" +
                   (scale_factor == 1 ? std::string() : fmt::format(" x{}", scale_factor));
  data.info.look_alike = true;
  data.info.source = "synthetic";
  if (profile.values == synthetic::Values::ratings) data.info.scale = profile.scale;
  data.info.content_hash = content_hash(data.ratings, threads);
  return data;
}

}  // namespace mf
