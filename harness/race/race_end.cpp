#include "harness/race/race_end.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/compare/headline.hpp"
#include "harness/results/files/load_json.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/results/files/standing_names.hpp"
#include "harness/results/meaning/stats.hpp"

namespace mf {
namespace {

struct Racer {
  std::string name;
  std::vector<double> answers;  // one a seed, infinite if it missed the target
  bool contended = false;       // other programs used part of the machine in one of them
  std::vector<double> quality;  // in the metric of the race
  double answer() const { return median(answers).value_or(kNever); }
};

struct Race {
  std::string data;
  Metric metric;              // judges a case
  std::vector<Racer> racers;  // that have run, in the order of the spec
};

Racer& racer_in(Race& race, const std::string& name) {
  const auto found = std::find_if(race.racers.begin(), race.racers.end(),
                                  [&](const Racer& one) { return one.name == name; });
  if (found != race.racers.end()) return *found;
  return race.racers.emplace_back(Racer{name, {}, false, {}});
}

Race& race_in(std::vector<Race>& races, const std::string& data) {
  const auto found =
      std::find_if(races.begin(), races.end(), [&](const Race& one) { return one.data == data; });
  return found != races.end() ? *found : races.emplace_back(Race{data, {}, {}});
}

std::vector<Race> races_of(const std::string& folder, const Spec& spec, const TargetSpec& target) {
  std::vector<Race> races;
  for (const Case& item : spec.cases) {
    const auto file = read_result_file(folder + "/" + item.id + ".jsonl");
    if (!file || !file->status() || !has_run(*file->status())) continue;
    Race& race = race_in(races, item.data_name);
    const auto reached = answer_at(*file, target);
    Racer& racer = racer_in(race, item.name);
    racer.answers.push_back(reached ? reached->answer_s.value_or(kNever) : kNever);
    racer.contended = racer.contended || !contention_text(contention_in(file->footer)).empty();
    race.metric = judged_by(*file);
    if (const auto end = headline_of(*file, race.metric)) racer.quality.push_back(end->at.value);
  }
  for (Race& race : races) {
    std::stable_sort(race.racers.begin(), race.racers.end(),
                     [](const Racer& a, const Racer& b) { return a.answer() < b.answer(); });
  }
  return races;
}

std::string goal_text(const Race& race, const TargetSpec& target) {
  const std::string metric = target.metric == kTestRmse ? "RMSE" : target.metric.title();
  return fmt::format("{} {:g} on {}", metric, target.value, race.data);
}

// "; lowest at the end: fpsgd, test RMSE 0.8512"
std::string best_text(const Race& race) {
  const Racer* best = nullptr;
  for (const Racer& one : race.racers) {
    const auto value = median(one.quality);
    if (value && (best == nullptr || race.metric.is_better(*value, *median(best->quality)))) {
      best = &one;
    }
  }
  if (best == nullptr) return "";
  return fmt::format("; {} at the end: {}, {} {}",
                     race.metric.is_better(0, 1) ? "lowest" : "highest", best->name,
                     race.metric.title(), race.metric.format(*median(best->quality)));
}

std::string line_of(const Race& race, const TargetSpec& target) {
  const auto& racers = race.racers;
  const auto missed = std::count_if(racers.begin(), racers.end(),
                                    [](const Racer& one) { return !std::isfinite(one.answer()); });
  if (missed == std::ssize(racers)) {
    return fmt::format("no algorithm of {} reached {}", racers.size(), goal_text(race, target)) +
           best_text(race);
  }
  std::string text = fmt::format("{}, {} in {}", racers[0].name, goal_text(race, target),
                                 format_seconds(racers[0].answer()));
  if (racers.size() > 1 && std::isfinite(racers[1].answer())) {
    const double ratio = racers[1].answer() / racers[0].answer();
    const std::string& next = racers[1].name;
    text +=
        racers[0].contended || racers[1].contended
            ? fmt::format("; then {} in {}; contended, so no factor", next,
                          format_seconds(racers[1].answer()))
            : fmt::format("; {:.{}f} x as fast as {}, the next", ratio, ratio < 10 ? 1 : 0, next);
  } else if (racers[0].contended) {
    text += "; contended";
  }
  if (missed > 0) text += fmt::format("; {} of {} did not reach it", missed, racers.size());
  return text + best_text(race);
}

}  // namespace

std::string winners_text(const std::string& folder, const Spec& given) {
  const auto target = target_of(given);
  if (!target) return "unknown: the spec names no target (\"target_rmse\", docs/spec.md)";
  std::vector<std::string> lines;
  for (const Race& race : races_of(folder, named_as_in(folder, given), *target)) {
    lines.push_back(one_line(line_of(race, *target)));  // names come from files
  }
  return lines.empty() ? "unknown: no case has run" : join(lines, "; ");
}

}  // namespace mf
