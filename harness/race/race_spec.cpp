#include "harness/race/race_spec.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/rating_facts.hpp"

namespace mf {
namespace {

constexpr double kUsualDeviation = 1.1;  // of one to five stars
constexpr int kSeeds = 3;
constexpr std::int64_t kRankedUsers = 10'000;

// The searched ranges, for five stars or for pairs, and the time a case may train.
struct Search {
  double least_reg, most_reg;
  bool learning_rate;
  std::int64_t epochs;
};
constexpr Search kSgd{0.01, 0.2, true, 30}, kAls{0.01, 0.4, false, 15}, kIals{0.1, 400, false, 15};

struct Runner {
  std::string name;
  Search search;
  Json fixed;
  std::string unless;  // runs only if that one cannot
};

std::vector<Runner> runners(Feedback feedback) {
  const Json biased = {{"model", "biased"}}, centered = {{"center", "biases"}, {"reg_power", 1}},
             none = Json::object();
  if (feedback == Feedback::stars) {
    return {{"sgd_serial", kSgd, biased, ""},    {"hogwild", kSgd, biased, ""},
            {"fpsgd", kSgd, biased, ""},         {"als_cpu", kAls, centered, ""},
            {"sgd_tiled", kSgd, biased, ""},     {"als_fused", kAls, centered, ""},
            {"als", kAls, centered, "als_fused"}};
  }
  return {{"ials_cpu", kIals, none, ""},
          {"ials_pp_cpu", kIals, none, ""},
          {"ials_fused", kIals, none, ""},
          {"ials", kIals, none, "ials_fused"},
          {"ials_pp", kIals, none, ""}};
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

// A regularizer grows with the values, and a learning rate falls.
Json searched(const Search& search, const RatingsLook& look) {
  if (look.feedback != Feedback::stars) {
    return {{"alpha", range(0.5, 100, look.mean > 0 ? 1 / look.mean : 1)},
            {"reg", range(search.least_reg, search.most_reg, 1)}};
  }
  const double scale = look.deviation > 0 ? look.deviation / kUsualDeviation : 1;
  Json over = {{"reg", range(search.least_reg, search.most_reg, scale)}};
  if (search.learning_rate) over["learning_rate"] = range(0.002, 0.05, 1 / scale);
  return over;
}

// `seconds`: of the trials of one algorithm, and again of all its cases.
Json entry_of(const Runner& runner, const RatingsLook& look, double seconds) {
  Json entry = {{"name", runner.name}, {"factors", 32}};
  entry.update(runner.fixed);
  entry["tune"] = {
      {"trials", 12}, {"budget_s", two_digits(seconds)}, {"over", searched(runner.search, look)}};
  entry["stop"] = {{"epochs", runner.search.epochs},
                   {"train_seconds", two_digits(seconds / kSeeds)},
                   {"plateau", {{"patience", 3}}}};
  return entry;
}

std::vector<Runner> runners_here(const RatingsLook& look, const std::optional<DeviceInfo>& device) {
  std::vector<Runner> found = runners(look.feedback);
  std::erase_if(found, [&](const Runner& one) {
    return !runs_here(one.name, device) || (!one.unless.empty() && runs_here(one.unless, device));
  });
  return found;
}

}  // namespace

RatingsLook look_at_ratings(const Dataset& data, std::optional<Feedback> given, int threads) {
  ThreadTeam team(threads);
  const auto [mean, deviation] = mean_and_deviation(data.ratings, team);
  return {given.value_or(feedback_of(data.ratings.values())), mean, deviation,
          data.ratings.n_users()};
}

Json race_spec(const RatingsLook& look, const RaceFrame& frame) {
  const std::vector<Runner> racing = runners_here(look, frame.device);
  Json spec = {{"name", frame.name},
               {"description", frame.description},
               {"datasets", Json::array({frame.dataset})},
               {"split", {{"holdout", 0.1}, {"validation", 0.1}, {"seed", 1}}},
               {"seeds", {1, 2, 3}},
               {"baseline", racing.front().name}};
  if (look.feedback != Feedback::stars && look.users > kRankedUsers) {
    spec["evaluate"] = {{"ranking", {{"users", kRankedUsers}}}};
  }
  spec["algorithms"] = Json::array();
  for (const Runner& runner : racing) {
    spec["algorithms"].push_back(
        entry_of(runner, look, frame.seconds / 2 / static_cast<double>(racing.size())));
  }
  return spec;
}

}  // namespace mf
