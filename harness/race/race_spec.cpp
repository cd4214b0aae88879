#include "harness/race/race_spec.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "algorithms/core/registry.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/rating_facts.hpp"

namespace mf {
namespace {

constexpr double kUsualDeviation = 1.1;  // of one to five stars
constexpr int kSeeds = 3;
constexpr std::int64_t kRankedUsers = 10'000;

// A searched parameter, for five stars or for pairs.
struct Range {
  std::string name;
  double low, high;
};

struct Runner {
  std::string name;
  std::vector<Range> search;
  std::int64_t epochs = 1;
  Json fixed = Json::object();          // of its entry
  std::string unless = {};              // runs only if that one cannot
  std::int32_t most_items = INT32_MAX;  // more take too long, or too much memory
};

std::vector<Runner> star_runners() {
  const Json biased = {{"factors", 32}, {"model", "biased"}};
  const Json centered = {{"factors", 32}, {"center", "biases"}, {"reg_power", 1}};
  const std::vector<Range> sgd = {{"reg", 0.01, 0.2}, {"learning_rate", 0.002, 0.05}};
  const std::vector<Range> als = {{"reg", 0.01, 0.4}};
  return {{"sgd_serial", sgd, 30, biased},
          {"hogwild", sgd, 30, biased},
          {"fpsgd", sgd, 30, biased},
          {"als_cpu", als, 15, centered},
          {"sgd_tiled", sgd, 30, biased},
          {"als_fused", als, 15, centered},
          {"als", als, 15, centered, "als_fused"}};
}

std::vector<Runner> implicit_runners() {
  const Json factors = {{"factors", 32}};
  const std::vector<Range> ials = {{"alpha", 0.2, 1000}, {"reg", 0.01, 1000}};
  const std::vector<Range> ease = {{"reg", 1, 10'000}};
  return {{"ials_cpu", ials, 15, factors},
          {"ials_pp_cpu", ials, 15, factors},
          {"ials_fused", ials, 15, factors},
          {"ials", ials, 15, factors, "ials_fused"},
          {"ials_pp", ials, 15, factors},
          {"popular", {}},
          {"item_knn", {{"k", 10, 1000}, {"shrinkage", 0.1, 1000}}},
          {"ease", ease, 1, Json::object(), "", 50'000},
          {"ease_cpu", ease, 1, Json::object(), "ease", 5'000}};
}

bool runs_here(const std::string& name, const std::optional<DeviceInfo>& device) {
  const AlgorithmInfo& info = find_algorithm(name);
  return info.hardware == Hardware::cpu ||
         (is_built(name) && device && device->compute() >= info.min_compute);
}

// Easy to read and to edit.
double two_digits(double value) { return std::stod(fmt::format("{:.1e}", value)); }

Json range(double low, double high, double factor) {
  return {two_digits(low * factor), two_digits(high * factor), "log"};
}

// A regularizer of stars grows with the values; learning rates and alpha fall.
Json searched(const std::vector<Range>& ranges, const RatingsLook& look) {
  const bool stars = look.feedback == Feedback::stars;
  const double size = stars ? look.deviation / kUsualDeviation : look.mean;
  const double scale = size > 0 ? size : 1;
  Json over = Json::object();
  for (const auto& [name, low, high] : ranges) {
    const bool falls = name == "alpha" || name == "learning_rate";
    over[name] = range(low, high, falls ? 1 / scale : stars ? scale : 1);
  }
  return over;
}

// `seconds`: of the trials of one algorithm, and again of all its cases.
Json entry_of(const Runner& runner, const RatingsLook& look, double seconds) {
  Json entry = {{"name", runner.name}};
  entry.update(runner.fixed);
  if (!runner.search.empty()) {
    entry["tune"] = {
        {"trials", 12}, {"wall_s", two_digits(seconds)}, {"over", searched(runner.search, look)}};
  }
  entry["stop"] = {{"epochs", runner.epochs}, {"train_seconds", two_digits(seconds / kSeeds)}};
  // It ranks after each epoch of a trial, which takes longer than training.
  if (look.feedback == Feedback::stars) entry["stop"]["plateau"] = {{"patience", 3}};
  return entry;
}

std::vector<Runner> runners_here(const RatingsLook& look, const std::optional<DeviceInfo>& device) {
  std::vector<Runner> found =
      look.feedback == Feedback::stars ? star_runners() : implicit_runners();
  std::erase_if(found, [&](const Runner& one) {
    return look.items > one.most_items || !runs_here(one.name, device) ||
           (!one.unless.empty() && runs_here(one.unless, device));
  });
  return found;
}

// ---- the target ----

constexpr double kSlack = 1.01, kInTheRace = 1.05;

double three_digits(double value, bool up) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 2);
  const double whole = up ? std::ceil(value / unit) : std::floor(value / unit);
  return std::stod(fmt::format("{:.2e}", whole * unit));  // the double that is read from its digits
}

}  // namespace

RatingsLook look_at_ratings(const Dataset& data, std::optional<Feedback> given, int threads) {
  ThreadTeam team(threads);
  const auto [mean, deviation] = mean_and_deviation(data.ratings, team);
  return {given.value_or(feedback_of(data.ratings.values())), mean, deviation,
          data.ratings.n_users(), data.ratings.n_items()};
}

Json race_spec(const RatingsLook& look, const RaceFrame& frame) {
  const std::vector<Runner> racing = runners_here(look, frame.device);
  Json spec = {{"name", frame.name},
               {"description", frame.description},
               {"datasets", Json::array({frame.dataset})},
               {"split", {{"holdout", 0.1}, {"validation", 0.1}, {"seed", 1}}},
               {"seeds", {1, 2, 3}},
               {"baseline", racing.front().name}};
  if (look.feedback != Feedback::stars) {
    // The metric of the target to come, with which a study stays the same.
    spec["evaluate"]["metrics"] = Json::array({on_validation(kNdcg100).key()});
    if (look.users > kRankedUsers) spec["evaluate"]["ranking"] = {{"users", kRankedUsers}};
  }
  spec["algorithms"] = Json::array();
  for (const Runner& runner : racing) {
    spec["algorithms"].push_back(
        entry_of(runner, look, frame.seconds / 2 / static_cast<double>(racing.size())));
  }
  return spec;
}

std::optional<TargetSpec> race_target(const std::vector<FoundStudy>& studies) {
  std::vector<double> scores;
  for (const auto& [plan, state] : studies) {
    if (const auto* best = state.best()) scores.push_back(*best->outcome.score);
  }
  if (scores.empty()) return std::nullopt;
  const Metric metric = studies.front().plan.metric;
  const bool more = metric->more_is_better;
  // Errors and metrics are positive: turned over, the larger is the worse of both.
  for (double& score : scores) score = more ? 1 / score : score;
  std::sort(scores.begin(), scores.end());
  double worst = scores[std::min<std::size_t>(1, scores.size() - 1)];
  for (const double score : scores)
    worst = std::max(worst, score <= kInTheRace * scores[0] ? score : 0);
  const double value = more ? 1 / (worst * kSlack) : worst * kSlack;
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return TargetSpec{on_validation(metric), three_digits(value, !more)};
}

}  // namespace mf
