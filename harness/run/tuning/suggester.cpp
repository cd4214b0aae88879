#include "harness/run/tuning/suggester.hpp"

#include <filesystem>

#include "algorithms/peer/confinement.hpp"
#include "algorithms/peer/places.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"

namespace mf {
namespace {

constexpr const char* kSampler = "optuna";
constexpr double kLongestWait_s = 120;  // its first answer has the import of the library

std::string sampler_folder() { return peer::peers_folder().value_or("") + "/" + kSampler; }

peer::Order order_of(const std::string& folder, const std::string& log) {
  peer::Order order;
  order.python = peer::python_of(kSampler);
  order.adapter = sampler_folder() + "/adapter.py";
  order.folder = folder;
  order.variables = {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"};
  order.log = log;
  order.timeout_s = kLongestWait_s;
  order.confined = peer::confinements();
  return order;
}

Json sampled_range(const TuneRange& range) {
  if (!range.choices.empty()) return {{"name", range.name}, {"choices", range.choices.size()}};
  return {{"name", range.name},
          {"low", range.low},
          {"high", range.high},
          {"log", range.log},
          {"whole", range.whole}};
}

// For those that have none, the worst of the others: they are not to be tried again.
std::optional<double> worst_score(const std::vector<TriedPoint>& tried, Metric metric) {
  std::optional<double> worst;
  for (const auto& one : tried) {
    if (!one.score || (worst && metric.is_better(*one.score, *worst))) continue;
    worst = one.score;
  }
  return worst;
}

}  // namespace

std::optional<std::string> why_no_suggester() {
  return peer::why_no_adapter(sampler_folder(), kSampler);
}

Suggester::Suggester(const StudyPlan& plan, const std::string& log)
    : plan_(plan),
      log_(std::filesystem::absolute(log).string()),
      process_(order_of(scratch_.path(), log_)) {}

Json Suggester::ask(const Json& message) {
  process_.ask(message);
  const auto line = process_.answer();
  if (!line) {
    fail(ErrorKind::io, "the sampler of Optuna gave no answer to {}; {} has what it printed",
         message.dump(), log_);
  }
  return parse_json(*line, "the answer of the sampler of Optuna");
}

Json Suggester::suggested(const Json& answer) const {
  JsonReader reader(answer, "the answer of the sampler of Optuna");
  JsonReader numbers(reader.require("values"), "the values of the sampler of Optuna");
  reader.finish();
  Json point = Json::object();
  for (const auto& range : plan_.tune.over) {
    numbers.require(range.name);
    point[range.name] = value_near(range, numbers.number(range.name, 0, -1e300, 1e300));
  }
  numbers.finish();
  return point;
}

Json Suggester::next(const std::vector<TriedPoint>& tried) {
  Json over = Json::array();
  for (const auto& range : plan_.tune.over) over.push_back(sampled_range(range));
  // A search of its own for each point, so that one that goes on after a break is the same.
  ask({{"type", "begin"},
       {"seed", plan_.tune.seed},
       {"number", plan_.points.size()},
       {"maximize", plan_.metric->more_is_better},
       {"over", over}});
  if (const auto worst = worst_score(tried, plan_.metric)) {
    for (const auto& one : tried) {
      Json values = Json::object();
      for (const auto& range : plan_.tune.over) {
        values[range.name] = number_of_value(range, one.values.at(range.name));
      }
      ask({{"type", "tried"}, {"values", values}, {"score", one.score.value_or(*worst)}});
    }
  }
  return suggested(ask({{"type", "suggest"}}));
}

}  // namespace mf
