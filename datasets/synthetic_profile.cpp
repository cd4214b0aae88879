#include "datasets/synthetic_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mf::synthetic {
namespace {

constexpr double kMaxFactor = 100;
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
      {"ml-100k",
       {943, 1'682, 100'000},
       {1, 5, 1},
       20,
       {1.7, 0},
       {2.2, 0.03},
       {3.75, 0.46, -0.2, 0.6, 0.6, 0.47, 0.79, 0.878}},
      {"ml-1m",
       {6'040, 3'706, 1'000'209},
       {1, 5, 1},
       20,
       {1.65, 0.045},
       {2.0, 0.08},
       {3.767, 0.433, -0.2, 0.597, 0.4, 0.47, 0.85, 0.842}},
      {"ml-10m",
       {69'878, 10'677, 10'000'054},
       {0.5, 5, 0.5},
       20,
       {1.85, 0.07},
       {3.0, 0.05},
       {3.777, 0.436, -0.2, 0.519, 0.4, 0.505, 0.85, 0.751, 0.6, 1}},
      {"ml-20m",
       {138'493, 26'744, 20'000'263},
       {0.5, 5, 0.5},
       20,
       {1.85, 0.08},
       {5.0, 0},
       {3.827, 0.437, -0.2, 0.520, 0.4, 0.491, 0.85, 0.754, 0.5, 1}},
      {"netflix",
       {480'189, 17'770, 100'480'507},
       {1, 5, 1},
       1,
       {1.75, 0.08},
       {3.6, 0.05},
       {3.813, 0.398, -0.1, 0.365, 0.4, 0.525, 0.85, 0.916}},
      {"yahoomusic",
       {1'000'990, 624'961, 262'810'175},
       {0, 100, 1},
       20,
       {1.75, 0.1},
       {2.5, 0.15},
       {48.3, 40, 0, 13.4, 0.3, 26.2, 0.85, 28, 0.9, 10}},
      {"hugewiki",
       {50'082'603, 39'780, 3'102'495'196},
       {0, 10, 0},
       1,
       {1.5, 0.08},
       {4.0, 0},
       {3.0, 0.24, 0, 0.40, 0.2, 0.425, 0.85, 0.425}},
      {"bdmovie",
       {9'722, 7'889, 1'262'741},
       {1, 5, 0.5},
       1,
       {1.65, 0.045},
       {3.0, 0.03},
       {3.767, 0.433, -0.2, 0.597, 0.4, 0.47, 0.85, 0.842}},
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
  if (!(factor > 0 && factor <= kMaxFactor))
    fail(ErrorKind::usage, "look-alike {}: scale is {}, expected a number in (0, {}]", profile.name,
         factor, kMaxFactor);
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
