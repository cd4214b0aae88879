#include "datasets/synthetic/synthetic_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mf::synthetic {
namespace {

// A smaller look-alike keeps its ratings per user and per item until the matrix is this dense.
constexpr double kMaxDensity = 0.1;

std::int64_t scaled(std::int64_t count, double factor) {
  return std::max<std::int64_t>(std::llround(factor * static_cast<double>(count)), 1);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t scaled_items(const Shape& full, double factor, std::int64_t users, std::int64_t nnz) {
  const auto by_density = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(nnz) / (kMaxDensity * static_cast<double>(users))));
  std::int64_t items = scaled(full.n_items, factor);
  if (factor < 1) items = std::min(std::max(items, by_density), full.n_items);
  // Tiny matrices: four ratings an item, or half full, whichever leaves more items.
  const std::int64_t few = std::max(nnz / 4, 2 * ceil_div(nnz, users));
  if (factor < 1) items = std::min(items, few);
  return std::clamp(items, ceil_div(nnz, users), nnz);
}

}  // namespace

const std::vector<Profile>& profiles() {
  static const std::vector<Profile> all{
      {.name = "ml-100k",
       .shape = {.n_users = 943, .n_items = 1'682, .nnz = 100'000},
       .scale = {.min = 1, .max = 5, .step = 1},
       .min_user_degree = 20,
       .activity = {.power = 1.7, .tail = 0},
       .popularity = {.power = 2.2, .tail = 0.03},
       .model = {.mean = 3.591,
                 .user_sd = 0.479,
                 .user_activity_correlation = -0.2,
                 .item_sd = 0.543,
                 .item_popularity_correlation = 0.6,
                 .signal_sd = 0.468,
                 .decay = 0.78,
                 .noise_sd = 0.883}},
      {.name = "ml-1m",
       .shape = {.n_users = 6'040, .n_items = 3'706, .nnz = 1'000'209},
       .scale = {.min = 1, .max = 5, .step = 1},
       .min_user_degree = 20,
       .activity = {.power = 1.65, .tail = 0.045},
       .popularity = {.power = 2.0, .tail = 0.08},
       .model = {.mean = 3.655,
                 .user_sd = 0.443,
                 .user_activity_correlation = -0.2,
                 .item_sd = 0.596,
                 .item_popularity_correlation = 0.4,
                 .signal_sd = 0.478,
                 .decay = 0.825,
                 .noise_sd = 0.846}},
      {.name = "ml-10m",
       .shape = {.n_users = 69'878, .n_items = 10'677, .nnz = 10'000'054},
       .scale = {.min = 0.5, .max = 5, .step = 0.5},
       .min_user_degree = 20,
       .activity = {.power = 1.85, .tail = 0.07},
       .popularity = {.power = 3.0, .tail = 0.05},
       .model = {.mean = 3.546,
                 .user_sd = 0.447,
                 .user_activity_correlation = -0.2,
                 .item_sd = 0.531,
                 .item_popularity_correlation = 0.4,
                 .signal_sd = 0.490,
                 .decay = 0.85,
                 .noise_sd = 0.754,
                 .coarse_share = 0.6,
                 .coarse_step = 1}},
      {.name = "ml-20m",
       .shape = {.n_users = 138'493, .n_items = 26'744, .nnz = 20'000'263},
       .scale = {.min = 0.5, .max = 5, .step = 0.5},
       .min_user_degree = 20,
       .activity = {.power = 1.85, .tail = 0.08},
       .popularity = {.power = 5.0, .tail = 0},
       .model = {.mean = 3.571,
                 .user_sd = 0.446,
                 .user_activity_correlation = -0.2,
                 .item_sd = 0.531,
                 .item_popularity_correlation = 0.4,
                 .signal_sd = 0.503,
                 .decay = 0.85,
                 .noise_sd = 0.754,
                 .coarse_share = 0.5,
                 .coarse_step = 1}},
      {.name = "netflix",
       .shape = {.n_users = 480'189, .n_items = 17'770, .nnz = 100'480'507},
       .scale = {.min = 1, .max = 5, .step = 1},
       .min_user_degree = 1,
       .activity = {.power = 1.75, .tail = 0.08},
       .popularity = {.power = 3.6, .tail = 0.05},
       .model = {.mean = 3.678,
                 .user_sd = 0.400,
                 .user_activity_correlation = -0.1,
                 .item_sd = 0.367,
                 .item_popularity_correlation = 0.4,
                 .signal_sd = 0.524,
                 .decay = 0.85,
                 .noise_sd = 0.918}},
      {.name = "yahoomusic",
       .shape = {.n_users = 1'000'990, .n_items = 624'961, .nnz = 262'810'175},
       .scale = {.min = 0, .max = 100, .step = 1},
       .min_user_degree = 20,
       .activity = {.power = 1.75, .tail = 0.1},
       .popularity = {.power = 2.5, .tail = 0.15},
       .model = {.mean = 46.78,
                 .user_sd = 41.0,
                 .user_activity_correlation = 0,
                 .item_sd = 13.73,
                 .item_popularity_correlation = 0.3,
                 .signal_sd = 26.56,
                 .decay = 0.85,
                 .noise_sd = 28.23,
                 .coarse_share = 0.9,
                 .coarse_step = 10}},
      {.name = "hugewiki",
       .shape = {.n_users = 50'082'603, .n_items = 39'780, .nnz = 3'102'495'196},
       .scale = {.min = 0, .max = 10, .step = 0},
       .min_user_degree = 1,
       .activity = {.power = 1.5, .tail = 0.08},
       .popularity = {.power = 4.0, .tail = 0},
       .model = {.mean = 3.004,
                 .user_sd = 0.241,
                 .user_activity_correlation = 0,
                 .item_sd = 0.401,
                 .item_popularity_correlation = 0.2,
                 .signal_sd = 0.425,
                 .decay = 0.85,
                 .noise_sd = 0.425}},
      {.name = "bdmovie",
       .shape = {.n_users = 9'722, .n_items = 7'889, .nnz = 1'262'741},
       .scale = {.min = 1, .max = 5, .step = 0.5},
       .min_user_degree = 1,
       .activity = {.power = 1.65, .tail = 0.045},
       .popularity = {.power = 3.0, .tail = 0.03},
       .model = {.mean = 3.655,
                 .user_sd = 0.443,
                 .user_activity_correlation = -0.2,
                 .item_sd = 0.596,
                 .item_popularity_correlation = 0.4,
                 .signal_sd = 0.478,
                 .decay = 0.825,
                 .noise_sd = 0.846}},
      {.name = "ml-20m-implicit",
       .shape = {.n_users = 138'287, .n_items = 20'720, .nnz = 9'995'410},
       .scale = {.min = 1, .max = 1, .step = 0},
       .min_user_degree = 5,
       .activity = {.power = 1.85, .tail = 0.05},
       .popularity = {.power = 6.0, .tail = 0.02},
       .model = {},
       .values = Values::ones,
       .tastes = {.global = 0.05, .niches = {32, 32, 48}, .items_a_favourite = 200}},
      {.name = "lastfm-360k",
       .shape = {.n_users = 358'868, .n_items = 292'385, .nnz = 17'535'655},
       .scale = {.min = 1, .max = 1e6F, .step = 1},
       .min_user_degree = 1,
       .activity = {.power = 0.1, .tail = 0.04},
       .popularity = {.power = 7.5, .tail = 0.025},
       .model = {.mean = 4.39,
                 .user_sd = 0.85,
                 .user_activity_correlation = 0,
                 .item_sd = 0.4,
                 .item_popularity_correlation = 0.3,
                 .signal_sd = 0.3,
                 .decay = 0.85,
                 .noise_sd = 0.9,
                 .taste_gain = 0.1},
       .values = Values::counts,
       .tastes = {.global = 0.1, .niches = {64, 128, 256}, .items_a_favourite = 100}},
  };
  return all;
}

const Profile& find_profile(const std::string& name) {
  for (const Profile& profile : profiles()) {
    if (profile.name == name) return profile;
  }
  const std::string near = nearest(name, look_alike_names());
  fail(ErrorKind::usage, "unknown look-alike \"{}\"{}; known: {}", name,
       near.empty() ? "" : "; did you mean \"" + near + "\"?", join(look_alike_names()));
}

Shape scaled_shape(const Profile& profile, double factor) {
  if (!(factor > 0 && factor <= kMaxLookAlikeScale))
    fail(ErrorKind::usage, "look-alike {}: scale is {}, expected a number in (0, {}]", profile.name,
         factor, kMaxLookAlikeScale);
  if (factor == 1) return profile.shape;
  Shape shape;
  shape.nnz = scaled(profile.shape.nnz, factor);
  shape.n_users = std::min(scaled(profile.shape.n_users, factor), shape.nnz);
  shape.n_items = scaled_items(profile.shape, factor, shape.n_users, shape.nnz);
  if (shape.n_users > std::numeric_limits<std::int32_t>::max())
    fail(ErrorKind::usage, "look-alike {}: scale {} asks for {} users, at most {} can be indexed",
         profile.name, factor, shape.n_users, std::numeric_limits<std::int32_t>::max());
  return shape;
}

}  // namespace mf::synthetic
