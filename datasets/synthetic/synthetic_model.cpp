#include "datasets/synthetic/synthetic_model.hpp"
#include "base/portable_math.hpp"

#include <algorithm>
#include <cmath>

namespace mf::synthetic {
namespace {

constexpr std::uint64_t kItemStream = std::uint64_t{1} << 39;

double normal(Rng& rng) {
  return portable::normal_quantile(static_cast<double>((rng() >> 12) | 1) * 0x1.0p-52);
}

// N(0, 1), correlated with the normal score of a place in (0, 1).
double correlated(double place, double correlation, Rng& rng) {
  const double score = portable::normal_quantile(std::clamp(place, 1e-12, 1 - 1e-12));
  return correlation * score + std::sqrt(1 - correlation * correlation) * normal(rng);
}

std::array<double, kRank> component_sds(const PlantedModel& model) {
  std::array<double, kRank> sd;
  double scale = 1, sum = 0;
  for (double& s : sd) {
    s = scale;
    sum += s * s;
    scale *= model.decay;
  }
  for (double& s : sd) s *= model.signal_sd / std::sqrt(sum);
  return sd;
}

float dot(const Factors& a, const Factors& b) {
  // Four partial sums: a fixed order that still fits vector registers.
  std::array<float, 4> sum{};
  for (std::size_t k = 0; k < kRank; k += 4) {
    for (std::size_t j = 0; j < 4; ++j) sum[j] += a[k + j] * b[k + j];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

RatingModel::RatingModel(const Profile& profile, const ItemCatalog& catalog, std::uint64_t seed)
    : model_(profile.model),
      scale_(profile.scale),
      component_sd_(component_sds(profile.model)),
      item_bias_(catalog.size()),
      items_(catalog.size()) {
  for (std::int32_t item = 0; item < catalog.size(); ++item) {
    Rng rng(seed, kItemStream + static_cast<std::uint64_t>(item));
    item_bias_[item] = static_cast<float>(
        model_.item_sd * correlated(catalog.place(item), model_.item_popularity_correlation, rng));
    for (float& q : items_[item].factors) q = static_cast<float>(normal(rng));
  }
}

User RatingModel::draw_user(double place, Rng& rng) const {
  User user;
  user.offset = static_cast<float>(
      model_.mean + model_.user_sd * correlated(place, model_.user_activity_correlation, rng));
  user.step = rng.uniform() < model_.coarse_share ? model_.coarse_step : scale_.step;
  for (std::size_t k = 0; k < kRank; ++k)
    user.factors[k] = static_cast<float>(component_sd_[k] * normal(rng));
  return user;
}

double RatingModel::bias_sum(const User& user, View<const std::int32_t> items) const {
  double sum = (static_cast<double>(user.offset) - model_.mean) * static_cast<double>(items.size());
  for (const std::int32_t item : items) sum += static_cast<double>(item_bias_[item]);
  return sum;
}

float RatingModel::expected(const User& user, std::int32_t item) const {
  return user.offset + item_bias_[item] + dot(user.factors, items_[item].factors);
}

float RatingModel::on_scale(float value, float step) const {
  if (step > 0) value = step * std::floor(value / step + 0.5F);
  return std::clamp(value, scale_.min, scale_.max);
}

void RatingModel::draw_values(const User& user, View<const std::int32_t> items, Rng& rng,
                              View<float> values) const {
  const auto noise_sd = static_cast<float>(model_.noise_sd);
  for (std::int64_t k = 0; k < items.size(); ++k) {
    const float mean = expected(user, items[k]);
    values[k] = on_scale(mean + noise_sd * static_cast<float>(normal(rng)), user.step);
  }
}

void RatingModel::draw_counts(const User& user, View<const std::int32_t> items, Rng& rng,
                              View<float> counts) const {
  constexpr double kMostPower = 60;  // beyond every scale, and far from overflow
  for (std::int64_t k = 0; k < items.size(); ++k) {
    const double power =
        static_cast<double>(counts[k] + expected(user, items[k])) + model_.noise_sd * normal(rng);
    const double count = portable::exp(std::clamp(power, -kMostPower, kMostPower));
    counts[k] = on_scale(static_cast<float>(count), 1);
  }
}

}  // namespace mf::synthetic
