#include "harness/results/compare/winner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/compare/compared_numbers.hpp"
#include "harness/results/meaning/stats.hpp"

namespace mf {
namespace {

double answer_of(const Racer& one) { return median(one.answers).value_or(kNever); }

bool has_few(const Racer& one) { return std::ssize(one.answers) < kFewestRuns; }

// Null if none has a quality.
const Racer* best_of(const std::vector<Racer>& racers, Metric metric) {
  const Racer* best = nullptr;
  for (const Racer& one : racers) {
    const auto value = median(one.quality);
    if (value && (best == nullptr || metric.is_better(*value, *median(best->quality)))) best = &one;
  }
  return best;
}

// To three digits behind the point, on the easier side.
double eased(double value, bool more_is_better) {
  const double sign = more_is_better ? -1000 : 1000;
  return std::ceil(value * sign - 1e-9) / sign;
}

std::string time_text(const Racer& one) {
  return format_seconds(answer_of(one)) +
         (has_few(one) ? fmt::format(" (n = {})", one.answers.size()) : "");
}

}  // namespace

std::vector<double> target_levels(std::vector<Racer> racers, Metric metric,
                                  std::optional<double> named, std::vector<double> frozen) {
  constexpr double kShort = 0.05;  // the rule of targets.json
  const bool more = metric->more_is_better;
  const auto few = [](const Racer& one) { return std::ssize(one.quality) < kFewestRuns; };
  if (!std::all_of(racers.begin(), racers.end(), few)) std::erase_if(racers, few);
  std::vector<double> levels = std::move(frozen);
  if (const Racer* const one = best_of(racers, metric); levels.empty() && one != nullptr) {
    const double best = *median(one->quality);
    const double first = named.value_or(eased(best * (more ? 1 - kShort : 1 + kShort), more));
    levels = {first, eased((first + best) / 2, more), eased(best, more)};
  }
  if (named) levels.resize(3);
  if (named) levels[0] = *named;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    if (!metric.is_better(levels[i], levels[i - 1])) levels[i] = levels[i - 1];
  }
  return levels;
}

std::vector<std::size_t> finish_order(const std::vector<Racer>& racers) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < racers.size(); ++i) {
    if (std::isfinite(answer_of(racers[i]))) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [](const Racer& one) { return std::pair(has_few(one), answer_of(one)); };
    return key(racers[a]) < key(racers[b]);
  });
  return order;
}

std::string winner_text(const std::vector<Racer>& racers, const Goal& goal) {
  const auto& [target, data, named, quality] = goal;
  const auto order = finish_order(racers);
  const std::size_t all = racers.size(), missed = all - order.size();
  std::string text = fmt::format(
      "{} {:g} on {}{}", target.metric == kTestRmse ? "RMSE" : target.metric.title(), target.value,
      data, named ? "" : " (the spec names none: frozen, or 5 % short of the best)");
  if (order.empty()) {
    text = fmt::format("no algorithm of {} reached {}", all, text);
  } else {
    const Racer &first = racers[order[0]], &next = racers[order[order.size() > 1 ? 1 : 0]];
    const bool contended = first.contended || next.contended;
    text = fmt::format("{}{}, {} in {}", missed > 0 && missed + 1 == all ? "only " : "", first.name,
                       text, time_text(first));
    if (order.size() == 1) {
      text += contended ? "; contended" : "";
    } else if (contended || has_few(first) || has_few(next)) {
      text += fmt::format("; then {} in {}{}", next.name, time_text(next),
                          contended ? "; contended, so no factor" : "");
    } else {
      const double ratio = answer_of(next) / answer_of(first);
      text += fmt::format("; {:.{}f} times as fast as {}, the next", ratio, ratio < 10 ? 1 : 0,
                          next.name);
    }
    if (missed > 0) text += fmt::format("; {} of {} did not reach it", missed, all);
  }
  const Racer* const best = best_of(racers, quality);
  if (best == nullptr) return text;
  return text + fmt::format("; {} at the end: {}, {} {}",
                            quality->more_is_better ? "highest" : "lowest", best->name,
                            quality.title(), quality.format(*median(best->quality)));
}

}  // namespace mf
