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

// Their squares sum to 1, and they fall as k^-power.
std::array<double, kRank> component_sds(double power) {
  std::array<double, kRank> sd;
  double sum = 0;
  for (std::size_t k = 0; k < kRank; ++k) {
    sd[k] = portable::exp(-power * portable::log(static_cast<double>(k + 1)));
    sum += sd[k] * sd[k];
  }
  for (double& s : sd) s /= std::sqrt(sum);
  return sd;
}

// e^(sd z) for a standard normal z, its mean (moment 1) or mean square (moment 2) brought to 1.
double log_normal(double sd, int moment, Rng& rng) {
  return sd == 0 ? 1 : portable::exp(sd * normal(rng) - 0.5 * moment * sd * sd);
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
      component_sd_(component_sds(profile.model.spectrum)),
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
  user.gain = static_cast<float>(log_normal(model_.gain_sd, 1, rng));
  user.noise_sd = static_cast<float>(model_.noise_sd * log_normal(model_.noise_spread, 2, rng));
  for (std::size_t k = 0; k < kRank; ++k)
    user.factors[k] = static_cast<float>(component_sd_[k] * normal(rng));
  return user;
}

float RatingModel::signal(const User& user, std::int32_t item) const {
  return dot(user.factors, items_[item].factors);
}

double RatingModel::chance(const User& user, std::int32_t item) const {
  if (!selects()) return 1;
  const double liking = model_.selection * static_cast<double>(signal(user, item)) - model_.reserve;
  return 1 / (1 + portable::exp(-liking));
}

float RatingModel::expected(const User& user, std::int32_t item) const {
  const float signal_sd = static_cast<float>(model_.signal_sd);
  return user.offset + user.gain * (item_bias_[item] + signal_sd * signal(user, item));
}

double RatingModel::deviation_sum(const User& user, View<const std::int32_t> items) const {
  double sum = 0;
  for (const std::int32_t item : items)
    sum += static_cast<double>(expected(user, item)) - model_.mean;
  return sum;
}

float RatingModel::on_scale(float value, float step) const {
  if (step > 0) value = step * std::floor(value / step + 0.5F);
  return std::clamp(value, scale_.min, scale_.max);
}

void RatingModel::draw_values(const User& user, View<const std::int32_t> items, Rng& rng,
                              View<float> values) const {
  for (std::int64_t k = 0; k < items.size(); ++k) {
    const float mean = expected(user, items[k]);
    values[k] = on_scale(mean + user.noise_sd * static_cast<float>(normal(rng)), user.step);
  }
}

void RatingModel::draw_counts(const User& user, View<const std::int32_t> items, Rng& rng,
                              View<float> counts) const {
  constexpr double kMostPower = 60;  // beyond every scale, and far from overflow
  for (std::int64_t k = 0; k < items.size(); ++k) {
    const double power = static_cast<double>(counts[k] + expected(user, items[k])) +
                         static_cast<double>(user.noise_sd) * normal(rng);
    const double count = portable::exp(std::clamp(power, -kMostPower, kMostPower));
    counts[k] = on_scale(static_cast<float>(count), 1);
  }
}

}  // namespace mf::synthetic
