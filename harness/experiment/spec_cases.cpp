#include <fmt/core.h>

#include <algorithm>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/problems.hpp"
#include "harness/experiment/metric_keys.hpp"
#include "harness/experiment/spec_parts.hpp"

namespace mf {
namespace {

// Who has no learning rate ignores the schedule.
bool watches_by_schedule(const Case& item) {
  return find_algorithm(item.algorithm).uses_learning_rate &&
         item.schedule.kind == ScheduleSpec::Kind::plateau;
}

// Those of the named ones that the case has and is not measured by anyway, each once.
std::vector<Metric> further_metrics(const Case& item, std::vector<Metric> named) {
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  std::erase_if(named, [&](Metric one) {
    const bool errors_of_train = one->part == MetricPart::train && one != kObjective;
    const bool anyway = one.is_ranking() ? one.is_usual() : !errors_of_train;
    return anyway || why_no_metric(item, one).has_value();
  });
  return named;
}

// The metric that rules watch if they name none. It is of the validation part if possible.
Metric usual_monitor(bool implicit, bool ranks) {
  if (!implicit) return kValidationRmse;
  return ranks ? on_validation(kNdcg100) : kObjective;
}

void resolve_monitors(Case& item) {
  const Metric usual = usual_monitor(is_implicit(item), *item.evaluate.rank);
  for (auto* monitor : {&item.schedule.monitor, &item.stop.plateau_monitor}) {
    *monitor = monitor->value_or(usual);
  }
}

void check_metrics(const Case& item) {
  if (is_implicit(item) && !has_objective(item) && !*item.evaluate.rank) {
    fail(ErrorKind::usage,
         "{}: {} has nothing to be judged by but its ranking, and \"evaluate\" says \"ranking\": "
         "false; take one of them out",
         item.path, item.algorithm);
  }
  if (is_sampler(item) && *item.evaluate.rank) {
    fail(ErrorKind::usage,
         "{}: {} is judged by the mean of the predictions of its draws, which ranks no items, and "
         "\"evaluate\" says \"ranking\": true; take one of them out",
         item.path, item.algorithm);
  }
  Problems problems;
  const auto check = [&](const char* key, Metric metric) {
    problems.attempt([&] {
      if (const auto why = why_no_metric(item, metric)) {
        fail(ErrorKind::usage, "{}.{}: {}", item.path, key, *why);
      }
    });
  };
  if (item.stop.target_rmse) check("stop.target_rmse", kTestRmse);
  if (item.stop.target) check("stop.target", item.stop.target->metric);
  for (const auto& [rule, monitor] : watching_rules(item))
    check((rule + ".monitor").c_str(), monitor);
  problems.raise();
}

}  // namespace

bool has_validation(const Case& item) {
  return item.split.has_validation() || !item.data.validation.empty();
}

const char* usual_validation(const Case& item) {
  return item.split.kind == SplitSpec::Kind::leave_last ? "1" : "0.1";
}

std::optional<std::string> why_no_metric(const Case& item, Metric metric) {
  const Measure measure = metric->measure;
  const bool implicit = is_implicit(item);
  if (measure == Measure::objective && implicit && !has_objective(item)) {
    return fmt::format("{} does not minimize the objective; expected a ranking metric",
                       item.algorithm);
  }
  if (measure == Measure::objective && !implicit) {
    return fmt::format(
        "{} is for explicit ratings; only algorithms for implicit feedback have an "
        "objective",
        item.algorithm);
  }
  if (measure == Measure::ranking && !*item.evaluate.rank) {
    return fmt::format("{} is not computed; add \"ranking\": true to \"evaluate\"", metric.key());
  }
  if (measure == Measure::objective) return std::nullopt;
  if (implicit && measure != Measure::ranking) {
    return fmt::format(
        "{} is for implicit feedback, which has no {}; expected \"objective\" or a ranking metric, "
        "as in {{\"metric\": \"ndcg_100\", \"value\": 0.3}}",
        item.algorithm, measure == Measure::rmse ? "RMSE" : "MAE");
  }
  if (metric->part == MetricPart::validation && !has_validation(item)) {
    return fmt::format(
        "{} is of the validation part, but the split of {} has no such part; add \"validation\": "
        "{} to its split",
        metric.key(), item.data.label(), usual_validation(item));
  }
  if (measure == Measure::ranking) return std::nullopt;
  // For a program that evaluates itself there is no other number.
  const auto& foreign = find_algorithm(item.algorithm).foreign;
  if (foreign && foreign->takes_test && metric != kTestRmse) {
    return fmt::format("{} evaluates itself and says only its test RMSE; found {}", item.algorithm,
                       metric.title());
  }
  return std::nullopt;
}

Case make_case(const AlgorithmEntry& algorithm, const DataEntry& data, const EvaluateSpec& evaluate,
               std::uint64_t seed) {
  Case item;
  item.path = algorithm.path;
  item.data_path = data.path;
  item.data = data.request;
  item.split = data.split.spec(seed);
  item.algorithm = algorithm.name;
  item.params = algorithm.params;
  item.schedule = algorithm.schedule;
  item.init = algorithm.init;
  item.init.seed = seed;
  item.stop = algorithm.stop;
  // A closed form has no second epoch.
  if (find_algorithm(item.algorithm).method == Method::closed_form) {
    item.stop.epochs = std::min<std::int64_t>(item.stop.epochs, 1);
  }
  item.evaluate = evaluate;
  item.evaluate.rank = evaluate.rank.value_or(is_implicit(item));
  item.seed = seed;
  resolve_monitors(item);
  item.evaluate.metrics = further_metrics(item, evaluate.metrics);
  item.resolved = {{"dataset", data.request_json},
                   {"split", item.split.to_json()},
                   {"algorithm", item.algorithm},
                   {"params", item.params.to_json()},
                   {"schedule", item.schedule.to_json()},
                   {"init", to_json(item.init)},
                   {"stop", item.stop.to_json()},
                   {"evaluate", item.evaluate.to_json()},
                   {"seed", seed}};
  item.hash = sha256(canonical(item.resolved));
  return item;
}

Case make_checked(const AlgorithmEntry& algorithm, const DataEntry& data,
                  const EvaluateSpec& evaluate, std::uint64_t seed) {
  Case item = make_case(algorithm, data, evaluate, seed);
  check_metrics(item);
  return item;
}

bool is_implicit(const Case& item) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  return info.implicit || info.by_history;
}

bool is_by_history(const Case& item) { return find_algorithm(item.algorithm).by_history; }

bool has_objective(const Case& item) { return minimizes_objective(find_algorithm(item.algorithm)); }

bool is_sampler(const Case& item) { return find_algorithm(item.algorithm).samples; }

bool has_model(const Case& item) { return !is_by_history(item) && !is_sampler(item); }

std::vector<WatchingRule> watching_rules(const Case& item) {
  std::vector<WatchingRule> all;
  const auto add = [&](const char* name, const std::optional<Metric>& monitor) {
    all.push_back({name, monitor.value()});
  };
  if (watches_by_schedule(item)) add("schedule", item.schedule.monitor);
  if (item.stop.plateau_patience > 0) add("stop.plateau", item.stop.plateau_monitor);
  return all;
}

std::vector<std::string> rules_on_test(const Case& item) {
  std::vector<std::string> names;
  if (is_trial(item)) return names;
  for (const WatchingRule& rule : watching_rules(item)) {
    if (rule.monitor->part == MetricPart::test) names.push_back(rule.name);
  }
  return names;
}

std::vector<Metric> named_metrics(const Case& item) {
  std::vector<Metric> all;
  for (const WatchingRule& rule : watching_rules(item)) all.push_back(rule.monitor);
  if (item.stop.target) all.push_back(item.stop.target->metric);
  all.insert(all.end(), item.evaluate.metrics.begin(), item.evaluate.metrics.end());
  return all;
}

bool ranks_validation(const Case& item) {
  const RankingSpec spec = ranking_of(item);
  return std::any_of(spec.metrics.begin(), spec.metrics.end(),
                     [](Metric one) { return one->part == MetricPart::validation; });
}

RankingSpec ranking_of(const Case& item) {
  RankingSpec spec = item.evaluate.ranking;
  std::vector<Metric> named = named_metrics(item);
  const Metric main = main_metric(item);
  const bool chooses = main.is_ranking() && has_validation(item) && !is_trial(item);
  if (chooses) named.push_back(on_validation(main));
  for (const Metric one : named) {
    const bool known = std::count(spec.metrics.begin(), spec.metrics.end(), one) > 0;
    if (one.is_ranking() && !known) spec.metrics.push_back(one);
  }
  return spec;
}

Metric error_metric(const Case& item) {
  if (is_implicit(item) && is_trial(item)) return item.evaluate.ranking.metrics.front();
  if (is_implicit(item)) return has_objective(item) ? kObjective : kNdcg100;
  return is_trial(item) ? kValidationRmse : kTestRmse;
}

Metric main_metric(const Case& item) {
  const bool ranks = is_implicit(item) && item.evaluate.rank.value_or(true);
  return ranks && !is_trial(item) ? kNdcg100 : error_metric(item);
}

// A key that came later stands in the JSON only where it is used: hashes of older cases must stay.
Json EvaluateSpec::to_json() const {
  Json json = {{"every", every}, {"train", train}, {"clip", clip}};
  if (user_groups != 0) json["user_groups"] = user_groups;
  if (rank.value_or(false)) json["ranking"] = {{"users", ranking.users}, {"seed", ranking.seed}};
  for (const Metric one : metrics) json["metrics"].push_back(one.key());
  return json;
}

Json to_json(const StartSpec& init) {
  Json json = {{"kind", kInitKindNames.of(init.kind)}};
  if (init.kind != InitKind::uniform) json["scale"] = init.scale;
  if (!init.model.empty()) json["model"] = init.model;
  return json;
}

}  // namespace mf
