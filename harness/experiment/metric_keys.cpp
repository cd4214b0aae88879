#include "harness/experiment/metric_keys.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

// A search always judges by the validation part.
bool stands_for(Metric metric, MetricUse use) {
  return use != MetricUse::search || metric.is_ranking() || metric->part == MetricPart::validation;
}

std::vector<std::string> known_words(MetricUse use) {
  std::vector<std::string> words;
  for (const Metric one : usual_metrics()) {
    if (stands_for(one, use)) words.push_back(word_of(one, use));
  }
  return words;
}

// For a ranking metric with any k.
std::string ranking_pattern() {
  std::vector<std::string> names;
  for (const MetricRow& row : kMetricRows) {
    if (row.measure == Measure::ranking) names.emplace_back(row.name);
  }
  static_assert(kRanks == 100, "the pattern ends there");
  return fmt::format("^({})[@_]([1-9][0-9]?|100)$", join(names, "|"));
}

Form<TargetSpec> value_up_to(double most, std::string help) {
  return Form<TargetSpec>()
      .number("value", &TargetSpec::value, 0, most, std::move(help))
      .required();
}

// A share beyond 1 would be met by no run.
Form<TargetSpec> make_target_form() {
  const auto share = value_up_to(1, "a share, at or above it");
  const auto number = value_up_to(1e300, "at or below it");
  const auto read = read_metric("metric", &TargetSpec::metric, MetricUse::target);
  std::vector<NamedForm> kinds = {{ranking_pattern(), share.info()}};
  for (const Metric one : usual_metrics()) {
    if (!one.is_ranking()) kinds.push_back({one.key(), number.info()});
  }
  Json schema = metric_schema(MetricUse::target);
  schema["default"] = TargetSpec().metric.key();
  return Form<TargetSpec>().select({"metric", "metric to reach the value", schema, nullptr},
                                   [=](JsonReader& reader, TargetSpec& out) {
                                     read(reader, out);
                                     (out.metric.is_ranking() ? share : number).read(reader, out);
                                   },
                                   kinds, {ranking_pattern()});
}

}  // namespace

std::string word_of(Metric metric, MetricUse use) {
  const bool named = use == MetricUse::monitor && !metric->watched.empty();
  return named ? std::string(metric->watched) : metric.key();
}

Json metric_schema(MetricUse use) {
  const Json any_k = {{"type", "string"}, {"pattern", ranking_pattern()}};
  return {{"anyOf", Json::array({Json{{"enum", known_words(use)}}, any_k})}};
}

Metric parse_metric(const std::string& word, MetricUse use, const std::string& path) {
  auto metric = find_metric(word);
  for (const Metric one : usual_metrics()) {
    if (word_of(one, use) == word) metric = one;
  }
  if (metric && stands_for(*metric, use)) return *metric;
  const std::vector<std::string> known = known_words(use);
  const std::string near = nearest(word, known);
  fail(ErrorKind::usage,
       "{}: found \"{}\", expected one of {}, or a ranking metric with a k from 1 to {}, such as "
       "ndcg@10{}",
       path, word, join(known), kRanks, near.empty() ? "" : "; did you mean \"" + near + "\"?");
}

FieldInfo monitor_info() {
  return {
      "monitor",
      "the RMSE of a part or the metric that is watched; by default the main one of the case on "
      "the validation part, which is cut if the split has none",
      metric_schema(MetricUse::monitor), nullptr};
}

const Form<TargetSpec>& target_form() {
  static const Form<TargetSpec> form = make_target_form();
  return form;
}

Json to_json(const TargetSpec& target) {
  return {{"metric", target.metric.key()}, {"value", target.value}};
}

TargetSpec parse_target(const std::string& text) {
  const auto end = text.find('=');
  const Json value = Json::parse(end == text.npos ? "" : text.substr(end + 1), nullptr, false);
  if (!value.is_number()) {
    fail(ErrorKind::usage, "--target: found \"{}\", expected a metric and a value: ndcg@10=0.3",
         text);
  }
  return target_form().parse({{"metric", text.substr(0, end)}, {"value", value}}, "--target");
}

Json metric_json(Metric metric) {
  const bool errors = metric->measure == Measure::rmse || metric->measure == Measure::mae;
  return {{"key", metric.key()},
          {"title", metric.title()},
          {"unit", errors ? "rating units" : ""},
          {"better", metric->more_is_better ? "more" : "less"},
          {"part", kMetricParts.of(metric->part)},
          {"measure", kMeasures.of(metric->measure)},
          {"k", metric.k()},
          {"format", metric->measure == Measure::objective ? ".6g" : ".4f"}};
}

Json metric_table() {
  Json rows = Json::array();
  for (const Metric one : usual_metrics()) rows.push_back(metric_json(one));
  Json main = Json::array();
  for (const Metric one : kMainMetrics) main.push_back(one.key());
  return {{"rows", rows}, {"main", main}, {"any_k", ranking_pattern()}};
}

}  // namespace mf
