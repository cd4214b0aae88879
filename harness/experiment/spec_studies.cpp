#include <fmt/core.h>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "harness/experiment/case_names.hpp"
#include "harness/experiment/spec_parts.hpp"

namespace mf {
namespace {

// The metric that judges the trials. A program that evaluates itself then gets the validation part.
Metric metric_of_study(const Case& base, const TuneSpec& tune, const std::string& path) {
  const Metric main = main_metric(base);
  const Metric metric = tune.metric.value_or(main.is_ranking() ? main : on_validation(main));
  if (metric == kObjective) {
    fail(ErrorKind::usage,
         "{}: {} has only the objective, which is of the training part; add \"ranking\": true to "
         "\"evaluate\" for a metric on the validation part",
         path, base.algorithm);
  }
  const auto why = why_no_metric(base, metric == kValidationRmse ? kTestRmse : metric);
  if (why) fail(ErrorKind::usage, "{}.metric: {}", path, *why);
  return metric;
}

void check_study(const Study& study) {
  if (!has_validation(study.base)) {
    fail(ErrorKind::usage,
         "{}: chooses by the validation part, but the split of {} has no such part; add "
         "\"validation\": {} to its split",
         study.path, study.base.data.label(), usual_validation(study.base));
  }
  if (study.base.stop.epochs == 0) {
    fail(ErrorKind::usage, "{}: found 0 in stop.epochs, expected epochs to train for", study.path);
  }
}

// By what decides its trials; more of them, or another eta or budget, are the same study.
std::string study_hash(const Study& study) {
  Json resolved = study.base.resolved;
  const Json tune = resolved.at("tune");
  resolved.erase("tune");
  return sha256(
      canonical(Json{{"case", resolved}, {"over", tune.at("over")}, {"seed", tune.at("seed")}}));
}

}  // namespace

void mark_searched(Case& item, const TuneSpec& tune) {
  for (const auto& range : tune.over) {
    const bool rate = range.name == "learning_rate";
    item.resolved[rate ? "schedule" : "params"][range.name] = "tuned";
  }
  item.resolved["tune"] = tune.to_json();
  item.hash = sha256(canonical(item.resolved));
}

Study make_study(const Case& base, const GivenAlgorithm& given, const DataEntry& data,
                 const EvaluateSpec& evaluate) {
  Study study;
  study.base = base;
  study.path = given.entry.path + ".tune";
  study.tune = *given.entry.tune;
  check_study(study);
  study.metric = metric_of_study(base, study.tune, study.path);
  study.rungs = rung_epochs(base.stop.epochs, study.tune.eta);
  study.points = draw_points(study.tune);
  study.make = [given, data, evaluate](const Json& values, std::uint64_t seed) {
    Json object = given.json;
    object.update(values);
    return make_checked(parse_algorithm(object, given.entry.path, given.inherited), data, evaluate,
                        seed);
  };
  for (const Json& point : study.points) study.make(point, base.seed);
  study.name = fmt::format("{}-{}-{}", slug(base.algorithm), slug(base.data.label()),
                           study_hash(study).substr(0, 10));
  return study;
}

void add_study(Spec& spec, Study study) {
  for (const auto& other : spec.studies) {
    if (other.name != study.name) continue;
    fail(ErrorKind::usage, "{}: {} searches the same, with other trials; expected it in one entry",
         study.path, other.path);
  }
  spec.studies.push_back(std::move(study));
}

// "sgd_serial factors=8 on ml-1m": with what differs among the studies of an algorithm.
void label_studies(Spec& spec) {
  std::vector<Case> bases;
  for (const auto& study : spec.studies) bases.push_back(study.base);
  name_cases(bases);
  for (std::size_t i = 0; i < bases.size(); ++i) {
    const SplitSpec& split = bases[i].split;
    const bool folds = split.kind == SplitSpec::Kind::folds;
    spec.studies[i].label = bases[i].name + " on " + bases[i].data_name +
                            (folds ? fmt::format(" fold {}", split.fold) : "");
  }
}

// Whether both have the same number of points, in all or for each searched parameter.
bool tuned_alike(const TuneSpec& a, const TuneSpec& b) {
  return a.eta == b.eta && a.budget_s == b.budget_s && a.wall_s == b.wall_s &&
         (a.trials == b.trials || a.trials * std::ssize(b.over) == b.trials * std::ssize(a.over));
}

// Alike is what the search is for: a library that was given more is no worse a program.
void warn_of_unequal(Spec& spec, const std::vector<GivenAlgorithm>& algorithms) {
  const GivenAlgorithm* first = nullptr;
  const auto effort = [](const TuneSpec& tune) {
    return fmt::format("{}, eta {}, {}", counted(tune.trials, "trial"), tune.eta,
                       tune.budget_s ? fmt::format("budget_s {}", *tune.budget_s) : "no budget_s");
  };
  for (const auto& given : algorithms) {
    if (!given.entry.tune) continue;
    if (first == nullptr) first = &given;
    if (tuned_alike(*given.entry.tune, *first->entry.tune)) continue;
    spec.warnings.push_back(fmt::format("{}.tune has {} and {}.tune {}: they are not tuned alike",
                                        given.entry.path, effort(*given.entry.tune),
                                        first->entry.path, effort(*first->entry.tune)));
  }
}

// The trials see the split of the first seed, in which the test ratings of the others train.
void warn_of_splits(Spec& spec, const SpecKeys& keys, const std::vector<DataEntry>& data) {
  if (keys.seeds.size() < 2 || spec.studies.empty()) return;
  for (const auto& entry : data) {
    const SplitSpec first = entry.split.spec(keys.seeds[0]);
    const bool drawn = first.kind != SplitSpec::Kind::given && !first.needs_times();
    if (!drawn || first.seed == entry.split.spec(keys.seeds[1]).seed) continue;
    spec.warnings.push_back(fmt::format(
        "{}: each repeat has a split of its own, and trials choose on that of seed {}: they see "
        "test ratings of the others; a \"seed\" in the split keeps one test part for all",
        entry.path, keys.seeds[0]));
  }
}

}  // namespace mf
