// Facts and choices about each data set that has a look-alike: profiles.json (compiled in). The
// README of `datasets` has the sources of the facts and the calibration of the rest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json/names.hpp"
#include "datasets/ratings/dataset.hpp"
#include "datasets/synthetic/synthetic.hpp"

namespace mf::synthetic {

// Law of a long-tailed weight: w = h^power exp(tail h^2) with h half-normal. The power sets the
// body (2: a gamma law of shape 1/2), tail > 0 adds a Pareto tail of index 1 / (2 tail); tail <
// 1/2.
struct TailLaw {
  double power;
  double tail;
};

// r = mean + b_u + g_u (c_i + signal_sd s_ui) + noise, then rounded to the scale and clamped;
// s_ui = sum_k sigma_k p_uk q_ik has standard deviation 1, sigma_k falls as k^-spectrum. Standard
// deviations and the mean are those before rounding, in rating units.
struct PlantedModel {
  double mean;
  double user_sd, user_activity_correlation;    // of b_u with the normal score of activity
  double item_sd, item_popularity_correlation;  // of c_i with the normal score of popularity
  double signal_sd;
  double noise_sd;
  // Common to all rating sets, fitted on ml-1m (README of `datasets`).
  double spectrum = 0.55;
  double gain_sd = 0.26;       // of log g_u: to some users the items differ more than to others
  double noise_spread = 0.37;  // standard deviation of the log of a user's own noise
  double selection = 0.85;     // users take liked items: in proportion to popularity
  double reserve = 1;          // and to the logistic function of selection s_ui - reserve; a
                               // selection of 0: to the first
  double coarse_share = 0;     // of users who rate in multiples of coarse_step only
  float coarse_step = 0;
  double taste_gain = 0;  // counts: added for each partition in which the item is to one's taste
};

// How users differ in the items they take (synthetic_tastes.hpp).
struct TasteLaw {
  double global = 1;                     // share drawn only by popularity; 1: no tastes
  std::array<std::int32_t, 3> niches{};  // of each partition of the items
  std::int64_t items_a_favourite = 40;   // one more favourite for every so many of a user's items
};

// The kind of values: on the rating scale, counts from 1 on (the model is that of their logarithm),
// or ones.
enum class Values { ratings, counts, ones };
inline constexpr Names kValuesNames{std::to_array<Named<Values>>(
    {{"ratings", Values::ratings}, {"counts", Values::counts}, {"ones", Values::ones}})};

struct Profile {
  std::string name;
  Shape shape;
  RatingScale scale{1, 1, 0};  // of data sets of ones
  std::int64_t min_user_degree;
  TailLaw activity;
  TailLaw popularity;
  PlantedModel model;
  Values values = Values::ratings;
  TasteLaw tastes = {};
};

const std::vector<Profile>& profiles();
// Reads profiles.json; throws Error(usage) with the JSON path.
std::vector<Profile> parse_profiles(const std::string& text, const std::string& name);
// By its name, or the profile in a file of one's own (fit.py), whose path ends in .json and which
// is read once. Throws Error: for an unknown name with the nearest, for a bad file with the JSON
// path.
const Profile& find_profile(const std::string& like);
bool is_profile_file(const std::string& like);

// The shape at a scale factor, as look_alike_shape documents it.
Shape scaled_shape(const Profile& profile, double factor);

}  // namespace mf::synthetic
