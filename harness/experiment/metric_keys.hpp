// How specs and results write metrics and their targets, and the JSON of the table itself.
#pragma once

#include <string>

#include "base/json/form.hpp"
#include "base/json/json.hpp"
#include "harness/experiment/metric.hpp"

namespace mf {

// The use of a named metric. Rules that watch the RMSE of a part call it by the part: "test"; a
// search chooses by the validation part.
enum class MetricUse { target, monitor, search };

std::string word_of(Metric metric, MetricUse use);
// The schema of such a word, or of the metrics that may stand there.
Json metric_schema(MetricUse use);
// Throws Error(usage) that names `path`.
Metric parse_metric(const std::string& word, MetricUse use, const std::string& path);

// A key of a form whose value is a metric; if absent, the member stays unchanged.
template <class T, class Member>
typename Form<T>::Read read_metric(std::string name, Member T::*member, MetricUse use) {
  return [=](JsonReader& reader, T& out) {
    if (reader.find(name) == nullptr) return;
    out.*member = parse_metric(reader.string(name, ""), use, reader.path(name));
  };
}
FieldInfo monitor_info();

// {"metric": "ndcg_100", "value": 0.3}
const Form<TargetSpec>& target_form();
Json to_json(const TargetSpec& target);
TargetSpec parse_target(const std::string& text);  // of a command line: ndcg_100=0.3

// For readers of results: one row, and all rows with the order of main metrics.
Json metric_json(Metric metric);
Json metric_table();

}  // namespace mf
