#include "harness/race/race_target.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace mf {
namespace {

constexpr double kSlack = 1.01, kInTheRace = 1.05;

double three_digits(double value, bool up) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 2);
  const double whole = up ? std::ceil(value / unit) : std::floor(value / unit);
  return std::stod(fmt::format("{:.2e}", whole * unit));  // the double that is read from its digits
}

}  // namespace

std::optional<TargetSpec> race_target(const std::vector<FoundStudy>& studies) {
  std::vector<double> scores;
  for (const auto& [plan, state] : studies) {
    if (const auto* best = state.best()) scores.push_back(*best->outcome.score);
  }
  if (scores.empty()) return std::nullopt;
  const Metric metric = studies.front().plan.metric;
  const bool more = metric->more_is_better;
  // Errors and metrics are positive: turned over, the larger is the worse of both.
  const auto badness = [&](double score) { return more ? 1 / score : score; };
  double best = badness(scores.front());
  for (const double score : scores) best = std::min(best, badness(score));
  double worst = best;
  for (const double score : scores) {
    if (badness(score) <= kInTheRace * best) worst = std::max(worst, badness(score));
  }
  const double value = more ? 1 / (worst * kSlack) : worst * kSlack;
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return TargetSpec{on_validation(metric), three_digits(value, !more)};
}

}  // namespace mf
