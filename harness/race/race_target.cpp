#include "harness/race/race_target.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace mf {
namespace {

constexpr double kLeastSlack = 0.01, kInTheRace = 1.05;

// The same of the test part: trials are judged by the validation part.
Metric on_test(const Metric& metric) {
  constexpr std::string_view kValidation = "validation_";
  const std::string key = metric.key();
  if (!key.starts_with(kValidation)) return metric;
  const std::string rest = key.substr(kValidation.size());
  return find_metric("test_" + rest).value_or(find_metric(rest).value_or(metric));
}

double three_digits(double value, bool up) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 2);
  const double whole = up ? std::ceil(value / unit) : std::floor(value / unit);
  return std::stod(fmt::format("{:.2e}", whole * unit));  // the double that is read from its digits
}

}  // namespace

double target_slack(const Metric& metric, double part) {
  if (part <= 0) return kLeastSlack;
  const double error = metric.is_ranking() ? std::sqrt(2 / part) : std::sqrt(1 / part);
  return std::max(kLeastSlack, 2 * error);
}

std::optional<TargetSpec> race_target(const std::vector<FoundStudy>& studies, double part) {
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
  const double slack = 1 + target_slack(metric, part);
  const double value = more ? 1 / (worst * slack) : worst * slack;
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return TargetSpec{on_test(metric), three_digits(value, !more)};
}

}  // namespace mf
