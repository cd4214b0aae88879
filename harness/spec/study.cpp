#include "harness/spec/study.hpp"

#include <fmt/core.h>

#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "harness/spec/case_names.hpp"
#include "harness/spec/metric_keys.hpp"

namespace mf {
namespace {

// Items are ranked for the validation part anyway.
void watch_validation(std::optional<Metric>& monitor) {
  const bool of_test = monitor && (*monitor)->part == MetricPart::test;
  if (of_test && !monitor->is_ranking()) monitor = on_validation(*monitor);
}

// A rule watches what an evaluation says.
bool watches(const Case& item) {
  return item.stop.plateau_patience > 0 || item.stop.overfitting_factor > 0 ||
         item.schedule.kind == ScheduleSpec::Kind::plateau;
}

// ---- study.json -------------------------------------------------------------------------------

Json range_json(const TuneRange& range) {
  Json json = {{"name", range.name}, {"range", range.to_json()}};
  if (!range.choices.empty()) return json;
  json["whole"] = range.whole;
  json["allowed"] = {range.least, range.most};
  return json;
}

TuneRange read_range(const Json& json) {
  TuneRange range;
  range.name = json.at("name").get<std::string>();
  const Json& given = json.at("range");
  if (given.is_object()) {
    range.choices = given.at("choices").get<std::vector<Json>>();
    return range;
  }
  range.low = given.at(0).get<double>();
  range.high = given.at(1).get<double>();
  range.log = given.size() > 2;
  range.whole = json.at("whole").get<bool>();
  range.least = json.at("allowed").at(0).get<double>();
  range.most = json.at("allowed").at(1).get<double>();
  return range;
}

}  // namespace

Case trial_case(const Study& study, std::size_t trial, std::size_t rung) {
  const Json& values = study.points.at(trial);
  Case item = study.make(values, study.base.seed);
  item.stop.epochs = study.rungs.at(rung);
  // A trial that stopped where it is good enough could not be told from a better one.
  item.stop.target_rmse.reset();
  item.stop.target.reset();
  watch_validation(item.stop.plateau_monitor);
  watch_validation(item.stop.overfitting_monitor);
  watch_validation(item.schedule.monitor);
  item.evaluate.train = false;
  item.evaluate.user_groups = 0;
  if (!watches(item)) item.evaluate.every = item.stop.epochs;
  item.resolved["schedule"] = item.schedule.to_json();
  item.resolved["stop"] = item.stop.to_json();
  item.resolved["evaluate"] = item.evaluate.to_json();
  item.resolved["judged_by"] = "validation";
  item.hash = sha256(canonical(item.resolved));
  item.id = fmt::format("{}/e{}-{}", study.name, item.stop.epochs, item.hash.substr(0, 10));
  // The label begins with the algorithm. The rest of it stands last, where long lines are cut.
  item.title = fmt::format("{} trial {}, {} epochs{}", item.algorithm, trial + 1, item.stop.epochs,
                           study.label.substr(item.algorithm.size()));
  item.trial = {{"study", study.name},
                {"number", trial + 1},
                {"epochs", item.stop.epochs},
                {"values", values},
                {"judged_by", "validation"}};
  return item;
}

Spec resolve_studies(Spec spec, const std::vector<StudyChoice>& choices) {
  if (spec.studies.empty()) return spec;
  std::vector<Case> cases;
  std::set<std::string> seen;
  for (Case& item : spec.cases) {
    if (item.study) {
      const std::size_t study = *item.study;
      const StudyChoice& choice = choices.at(study);
      if (choice.values) {
        item = spec.studies.at(study).make(*choice.values, item.seed);
        item.tuned = choice.tuned;
      } else {
        item.unresolved = choice.why;
      }
    }
    if (seen.insert(item.hash).second) cases.push_back(std::move(item));
  }
  spec.cases = std::move(cases);
  name_cases(spec.cases);
  return spec;
}

Json to_json(const StudyPlan& plan) {
  Json over = Json::array();
  for (const auto& range : plan.tune.over) over.push_back(range_json(range));
  Json tune = plan.tune.to_json();
  tune["over"] = over;
  Json json = {{"schema_version", 1},         {"study", plan.name}, {"label", plan.label},
               {"metric", plan.metric.key()}, {"tune", tune},       {"rungs", plan.rungs},
               {"points", plan.points}};
  if (plan.to_come > 0) json["to_come"] = plan.to_come;
  return json;
}

StudyPlan read_study_plan(const Json& json, const std::string& where) {
  try {
    StudyPlan plan;
    if (const Json version = json.value("schema_version", Json(1)); version != 1) {
      throw std::out_of_range("schema_version " + version.dump());
    }
    plan.name = json.at("study").get<std::string>();
    plan.label = json.at("label").get<std::string>();
    plan.metric = parse_metric(json.at("metric").get<std::string>(), MetricUse::search, "metric");
    const Json& tune = json.at("tune");
    plan.tune.trials = tune.at("trials").get<std::int64_t>();
    plan.tune.eta = tune.at("eta").get<std::int64_t>();
    plan.tune.seed = tune.at("seed").get<std::uint64_t>();
    if (tune.contains("budget_s")) plan.tune.budget_s = tune.at("budget_s").get<double>();
    for (const Json& range : tune.at("over")) plan.tune.over.push_back(read_range(range));
    plan.rungs = json.at("rungs").get<std::vector<std::int64_t>>();
    plan.tune.sampler = kTuneSamplers.parse(tune.value("sampler", "random"), "sampler");
    plan.to_come = json.value("to_come", std::int64_t{0});
    plan.points = json.at("points").get<std::vector<Json>>();
    if (plan.rungs.empty() || plan.tune.eta < 1) throw std::out_of_range("rungs or eta");
    for (const Json& point : plan.points) {
      for (const auto& range : plan.tune.over) point.at(range.name).dump();
    }
    return plan;
  } catch (const std::exception& error) {
    fail(ErrorKind::data, "{}: found {}, expected what `mfbench tune` writes; run it again", where,
         error.what());
  }
}

}  // namespace mf
