#include "harness/experiment/study.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "harness/experiment/case_names.hpp"
#include "harness/experiment/metric_keys.hpp"

namespace mf {
namespace {

// Items are ranked for the validation part anyway.
void watch_validation(std::optional<Metric>& monitor) {
  const bool of_test = monitor && (*monitor)->part == MetricPart::test;
  if (of_test && !monitor->is_ranking()) monitor = on_validation(*monitor);
}

// A rule watches the results of evaluations.
bool watches(const Case& item) {
  return item.stop.plateau_patience > 0 || item.schedule.kind == ScheduleSpec::Kind::plateau;
}

// The search and the rules of a trial see no other metric, and a rule acts after `patience` worse
// evaluations at the earliest. Other evaluations would choose nothing, so the hash stays as it is.
void evaluate_only(Case& item, Metric searched) {
  constexpr std::size_t kPrefix = sizeof("validation_") - 1;
  EvaluateSpec& evaluate = item.evaluate;
  evaluate.metrics.clear();
  evaluate.ranking.metrics.clear();
  if (searched.is_ranking()) evaluate.ranking.metrics = {searched};
  evaluate.rank = searched.is_ranking();
  std::int64_t idle = item.stop.epochs;  // evaluations after the first
  if (item.stop.plateau_patience > 0) idle = item.stop.plateau_patience;
  if (item.schedule.kind == ScheduleSpec::Kind::plateau)
    idle = std::min<std::int64_t>(idle, item.schedule.patience);
  if ((item.stop.epochs - 1) / evaluate.every <= idle) evaluate.every = item.stop.epochs;
  for (auto* monitor : {&item.stop.plateau_monitor, &item.schedule.monitor}) {
    if (!*monitor || !(*monitor)->is_ranking()) continue;
    // In a trial the validation part stands for the test part.
    if ((**monitor)->part == MetricPart::validation)
      *monitor = find_metric((*monitor)->key().substr(kPrefix));
    evaluate.rank = evaluate.rank || watches(item);
  }
}

// ---- study.json -------------------------------------------------------------------------------

Json range_json(const TuneRange& range) {
  Json json = {{"name", range.name}, {"range", range.to_json()}};
  if (!range.choices.empty()) return json;
  json["whole"] = range.whole;
  json["allowed"] = {range.least, range.most};
  return json;
}

constexpr double kMostNumber = 1e300;
constexpr std::int64_t kMostCount = std::int64_t{1} << 50;

const Json& list_of(JsonReader& reader, const std::string& key) {
  const Json& list = reader.require(key);
  if (list.is_array()) return list;
  fail(ErrorKind::data, "{}: found {}, expected a list", reader.path(key), describe(list));
}

std::int64_t count_of(JsonReader& reader, const std::string& key, std::int64_t least) {
  reader.require(key);
  return reader.integer(key, 0, least, kMostCount);
}

// The first two of a list.
std::pair<double, double> ends_of(JsonReader& reader, const std::string& key) {
  const Json& list = list_of(reader, key);
  if (list.size() >= 2 && list[0].is_number() && list[1].is_number()) {
    return {list[0].get<double>(), list[1].get<double>()};
  }
  fail(ErrorKind::data, "{}: found {}, expected two numbers", reader.path(key), describe(list));
}

// As range_json() writes it.
TuneRange read_range(const Json& json, const std::string& where) {
  JsonReader reader(json, where);
  TuneRange range;
  range.name = reader.name("name");
  if (reader.require("range").is_object()) {
    JsonReader given(reader.require("range"), reader.path("range"));
    for (const Json& choice : list_of(given, "choices")) range.choices.push_back(choice);
    return range;
  }
  std::tie(range.low, range.high) = ends_of(reader, "range");
  range.log = reader.require("range").size() > 2;
  range.whole = reader.boolean("whole", false);
  std::tie(range.least, range.most) = ends_of(reader, "allowed");
  return range;
}

TuneSpec read_tune(JsonReader reader) {
  TuneSpec tune;
  tune.trials = count_of(reader, "trials", 1);
  tune.eta = count_of(reader, "eta", 1);
  reader.require("seed");
  tune.seed = static_cast<std::uint64_t>(reader.integer("seed", 1, 0, INT64_MAX));
  for (const auto& [key, limit] :
       {std::pair("budget_s", &tune.budget_s), {"wall_s", &tune.wall_s}}) {
    if (reader.find(key) != nullptr) *limit = reader.number(key, 0, 0, kMostNumber);
  }
  std::size_t number = 0;
  for (const Json& range : list_of(reader, "over")) {
    tune.over.push_back(read_range(range, fmt::format("{}[{}]", reader.path("over"), number++)));
  }
  return tune;
}

// A value for each parameter that is searched.
void check_point(const Json& point, const TuneSpec& tune, const std::string& where) {
  JsonReader reader(point, where);
  for (const auto& range : tune.over) {
    const Json& value = reader.require(range.name);
    const auto& choices = range.choices;
    if (choices.empty() ? value.is_number()
                        : std::find(choices.begin(), choices.end(), value) != choices.end()) {
      continue;
    }
    fail(ErrorKind::data, "{}: found {}, expected {}", reader.path(range.name), describe(value),
         choices.empty() ? "a number" : "one of the choices");
  }
}

StudyPlan read_plan(JsonReader reader) {
  if (const Json* version = reader.find("schema_version"); version && *version != 1) {
    fail(ErrorKind::data, "{}: found schema_version {}, expected 1", reader.where(),
         version->dump());
  }
  StudyPlan plan;
  plan.name = reader.name("study");
  plan.label = reader.name("label");
  plan.metric = parse_metric(reader.name("metric"), MetricUse::search, reader.path("metric"));
  plan.tune = read_tune(JsonReader(reader.require("tune"), reader.path("tune")));
  for (const Json& rung : list_of(reader, "rungs")) {
    const auto epochs = rung.is_number_integer() ? rung.get<std::int64_t>() : 0;
    if (epochs < 1 || epochs > kMostCount) {
      fail(ErrorKind::data, "{}: found {}, expected epochs", reader.path("rungs"), describe(rung));
    }
    plan.rungs.push_back(epochs);
  }
  if (plan.rungs.empty()) fail(ErrorKind::data, "{}: is empty", reader.path("rungs"));
  for (const Json& point : list_of(reader, "points")) {
    check_point(point, plan.tune, fmt::format("{}[{}]", reader.path("points"), plan.points.size()));
    plan.points.push_back(point);
  }
  return plan;
}

}  // namespace

Case trial_case(const Study& study, std::size_t trial, std::size_t rung) {
  const Json& values = study.points.at(trial);
  Case item = study.make(values, study.base.seed);
  item.stop.epochs = study.rungs.at(rung);
  // A trial that stopped when good enough could not be told from a better one.
  item.stop.target_rmse.reset();
  item.stop.target.reset();
  watch_validation(item.stop.plateau_monitor);
  watch_validation(item.schedule.monitor);
  item.evaluate.train = false;
  item.evaluate.user_groups = 0;
  if (!watches(item)) item.evaluate.every = item.stop.epochs;
  item.resolved["schedule"] = item.schedule.to_json();
  item.resolved["stop"] = item.stop.to_json();
  item.resolved["evaluate"] = item.evaluate.to_json();
  item.resolved["judged_by"] = "validation";
  item.hash = sha256(canonical(item.resolved));
  evaluate_only(item, study.metric);
  item.id = fmt::format("{}/e{}-{}", study.name, item.stop.epochs, item.hash.substr(0, 10));
  // The label begins with the algorithm. The rest of it stands last, since long lines are cut
  // there.
  item.title = fmt::format("{} trial {}, {} epochs{}", item.algorithm, trial + 1, item.stop.epochs,
                           study.label.substr(item.algorithm.size()));
  item.trial = {{"study", study.name}, {"number", trial + 1},          {"epochs", item.stop.epochs},
                {"values", values},    {"metric", study.metric.key()}, {"judged_by", "validation"}};
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
  return {{"schema_version", 1},         {"study", plan.name}, {"label", plan.label},
          {"metric", plan.metric.key()}, {"tune", tune},       {"rungs", plan.rungs},
          {"points", plan.points}};
}

StudyPlan read_study_plan(const Json& json, const std::string& where) {
  try {
    return read_plan(JsonReader(json, where + ": $"));
  } catch (const Error& error) {
    fail(ErrorKind::data, "{}; expected what `mfbench tune` writes: run it again", error.what());
  }
}

}  // namespace mf
