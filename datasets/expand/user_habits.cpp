#include "datasets/expand/user_habits.hpp"

#include <algorithm>
#include <tuple>

namespace mf::expand {
namespace {

// Neighbours to draw from: a twelfth of the ratings. More blur a user's likings, fewer repeat the
// noise of the few.
std::int64_t window_of(std::int64_t n) {
  return std::min(n, std::clamp<std::int64_t>(n / 12, 2, 20));
}

// The line through (liking, value): the share of noise in this user's mean and slope. A few ratings
// say nothing of a slope.
std::pair<double, double> line_of(const std::vector<std::pair<double, float>>& given) {
  const auto n = static_cast<double>(given.size());
  double x = 0, y = 0;
  for (const auto& [liking, value] : given) {
    x += liking / n;
    y += static_cast<double>(value) / n;
  }
  double xx = 0, xy = 0;
  for (const auto& [liking, value] : given) {
    xx += (liking - x) * (liking - x);
    xy += (liking - x) * (static_cast<double>(value) - y);
  }
  const double slope = given.size() < 10 || xx < 1e-9 ? 1 : std::clamp(xy / xx, 0.5, 2.0);
  return {y - slope * x, slope};
}

View<const std::int32_t> items_of(const Ratings& base, std::int64_t user) {
  return base.items().part(base.user_offsets()[user], base.user_offsets()[user + 1]);
}

View<const float> values_of(const Ratings& base, std::int64_t user) {
  return base.values().part(base.user_offsets()[user], base.user_offsets()[user + 1]);
}

}  // namespace

UserHabits::UserHabits(const Ratings& base, const TasteSample& tastes, std::int64_t user)
    : tastes_(tastes),
      rated_(items_of(base, user)),
      posterior_(tastes.posterior(user, rated_, values_of(base, user))),
      window_(window_of(rated_.size())) {
  const auto values = values_of(base, user);
  const double* factors = &tastes.users[user * kFactors];
  for (std::int64_t k = 0; k < rated_.size(); ++k) {
    given_.emplace_back(tastes.predict(factors, rated_[k]), values[k]);
  }
  std::sort(given_.begin(), given_.end());
  std::tie(offset_, slope_) = line_of(given_);
}

void UserHabits::draw_likings(Rng& rng, std::vector<double>& likings) const {
  double factors[kFactors];
  posterior_.draw(rng, factors);
  likings.clear();
  for (const std::int32_t item : rated_) likings.push_back(tastes_.predict(factors, item));
}

float UserHabits::draw_value(double liking, Rng& rng) const {
  const auto place =
      std::lower_bound(given_.begin(), given_.end(), std::pair((liking - offset_) / slope_, 0.0F));
  const std::int64_t n = std::ssize(given_);
  std::int64_t k =
      place - given_.begin() - window_ / 2 + static_cast<std::int64_t>(rng.below(window_));
  // Beyond either end the nearest count twice.
  if (k < 0) k = -1 - k;
  if (k >= n) k = 2 * n - 1 - k;
  return given_[k].second;
}

}  // namespace mf::expand
