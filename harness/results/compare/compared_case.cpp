#include "harness/results/compare/compared_case.hpp"

#include <algorithm>

#include "base/json/json_values.hpp"
#include "harness/results/compare/headline.hpp"
#include "harness/results/files/load_json.hpp"

namespace mf {
namespace {

// "section.key" for every value inside, at any depth.
void flatten(const Json& value, const std::string& name, Configuration& into) {
  if (!value.is_object()) {
    into[name] = value;
    return;
  }
  for (const auto& [key, inner] : value.items()) flatten(inner, name + "." + key, into);
}

// Its seed; with folds, the fold as well.
Json drawn_by(const Json& split) {
  const Json& fold = value_at(split, {"fold"});
  const Json& seed = value_at(split, {"seed"});
  return fold.is_null() ? seed : Json{seed, fold};
}

std::optional<double> epoch_seconds(const ResultFile& file) {
  if (restarts(file.header)) return std::nullopt;  // one has its setup, two differ by their scatter
  if (const auto steady = epoch_times_of(file).steady_s) return steady;
  const auto epochs = integer_at(file.footer, {"epochs"}).value_or(0);
  const auto end = answer_at_end(file);
  if (!end || epochs == 0) return std::nullopt;
  return end->train_s / static_cast<double>(epochs);
}

AnswerTimes times_of(const std::optional<Answer>& answer) {
  if (!answer) return {};
  return {answer->train_s, answer->answer_s.value_or(kNever),
          answer->file_to_model_s.value_or(kNever), answer->energy_j.value_or(std::nan(""))};
}

bool has_metric(const ResultFile& file, Metric metric) {
  const std::string name = metric.key();
  return std::any_of(file.trace.begin(), file.trace.end(), [&](const Json& point) {
    return number_at(point, {name.c_str()}).has_value();
  });
}

}  // namespace

std::optional<TargetSpec> named_target(const Json& header) {
  const auto metric = find_metric(text_at(header, {"target", "metric"}).value_or(""));
  const auto value = number_at(header, {"target", "value"});
  if (metric && value) return TargetSpec{*metric, *value};
  if (const auto rmse = number_at(header, {"target_rmse"})) {
    return TargetSpec{kTestRmse, *rmse};
  }
  return std::nullopt;
}

Configuration configuration_of(const Json& header) {
  Configuration all;
  all["algorithm"] = value_at(header, {"algorithm", "name"});
  all["dataset"] = value_at(header, {"dataset", "name"});
  all["dataset.content_hash"] = value_at(header, {"dataset", "content_hash"});
  flatten(value_at(header, {"algorithm", "params"}), "params", all);
  flatten(value_at(header, {"dataset", "split"}), "split", all);
  for (const char* section : {"schedule", "init", "stop", "evaluate"}) {
    flatten(value_at(header, {section}), section, all);
  }
  all.erase("split.seed");
  all.erase("split.fold");
  return all;
}

std::optional<ComparedCase> compared_case(const std::string& path, const ResultFile& file,
                                          const std::optional<TargetSpec>& target) {
  const auto seed = integer_at(file.header, {"seed"});
  if (!seed || !file.status()) return std::nullopt;
  ComparedCase one;
  one.file = path;
  one.configuration = configuration_of(file.header);
  one.repeat = {*seed, drawn_by(value_at(file.header, {"dataset", "split"}))};
  one.status = *file.status();
  one.method = text_at(file.header, {"algorithm", "method"}).value_or("");
  one.on_device = text_at(file.header, {"algorithm", "hardware"}) == "cuda";
  one.content = text_at(file.header, {"dataset", "content_hash"}).value_or("");
  one.origin = origin_of(value_at(file.header, {"environment"}));
  one.target = target;
  if (target) {
    one.has_target_metric = has_metric(file, target->metric);
    one.at_target = times_of(answer_at(file, *target));
  }
  if (one.status == Status::completed) one.at_end = times_of(answer_at_end(file));
  one.metric = judged_by(file);
  if (const auto found = headline_of(file, one.metric)) one.quality = found->at.value;
  one.epoch_s = epoch_seconds(file);
  one.contention = contention_in(file.footer);
  return one;
}

}  // namespace mf
