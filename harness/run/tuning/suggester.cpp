#include "harness/run/tuning/suggester.hpp"

#include <filesystem>
#include <utility>

#include "algorithms/peer/places.hpp"
#include "algorithms/peer/supervised.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"

namespace mf {
namespace {

constexpr const char* kSampler = "optuna";
constexpr double kLongestWait_s = 120;  // its first answer has the import of the library

std::string sampler_folder() { return peer::peers_folder().value_or("") + "/" + kSampler; }

peer::Order order_of(const std::string& log) {
  peer::Order order;
  order.python = peer::python_of(kSampler);
  order.adapter = sampler_folder() + "/adapter.py";
  order.folder = "/";
  order.variables = {"LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1",
                     "OPENBLAS_NUM_THREADS=1"};
  order.log = log;
  order.timeout_s = kLongestWait_s;
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

// Of those that have none, the worst of the others: they are not to be tried again.
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

struct Suggester::Impl {
  Impl(const StudyPlan& its_plan, std::string its_log)
      : plan(its_plan),
        log(std::filesystem::absolute(std::move(its_log)).string()),
        process(order_of(log)) {}

  Json ask(const Json& message) {
    process.ask(message);
    const auto line = process.answer();
    if (!line) {
      fail(ErrorKind::io, "the sampler of Optuna gave no answer to {}; {} has what it printed",
           message.dump(), log);
    }
    return parse_json(*line, "the answer of the sampler of Optuna");
  }

  Json suggested(const Json& answer) const {
    JsonReader reader(answer, "the answer of the sampler of Optuna");
    const Json& values = reader.require("values");
    reader.finish();
    Json point = Json::object();
    JsonReader numbers(values, "the values of the sampler of Optuna");
    for (const auto& range : plan.tune.over) {
      numbers.require(range.name);
      point[range.name] = value_near(range, numbers.number(range.name, 0, -1e300, 1e300));
    }
    numbers.finish();
    return point;
  }

  void tell(const TriedPoint& one, double score) {
    Json values = Json::object();
    for (const auto& range : plan.tune.over) {
      values[range.name] = number_of_value(range, one.values.at(range.name));
    }
    ask({{"type", "tried"}, {"values", values}, {"score", score}});
  }

  const StudyPlan& plan;
  const std::string log;
  peer::Supervised process;
};

Suggester::Suggester(const StudyPlan& plan, std::string log)
    : impl_(std::make_unique<Impl>(plan, std::move(log))) {}

Suggester::~Suggester() {
  impl_->process.end();
  std::error_code ignored;
  if (std::filesystem::file_size(impl_->log, ignored) == 0) {
    std::filesystem::remove(impl_->log, ignored);
  }
}

Json Suggester::next(const std::vector<TriedPoint>& tried) {
  const StudyPlan& plan = impl_->plan;
  Json over = Json::array();
  for (const auto& range : plan.tune.over) over.push_back(sampled_range(range));
  // A search of its own for each point, so that one that goes on after a break is the same.
  impl_->ask({{"type", "begin"},
              {"seed", plan.tune.seed},
              {"number", plan.points.size()},
              {"maximize", plan.metric->more_is_better},
              {"over", over}});
  if (const auto worst = worst_score(tried, plan.metric)) {
    for (const auto& one : tried) impl_->tell(one, one.score.value_or(*worst));
  }
  return impl_->suggested(impl_->ask({{"type", "suggest"}}));
}

}  // namespace mf
