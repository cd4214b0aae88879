#include "harness/run/show/case_line.hpp"

#include <fmt/core.h>

#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/compare/compared_case.hpp"
#include "harness/results/compare/headline.hpp"
#include "harness/results/files/load_json.hpp"

namespace mf {
namespace {

bool is_contended(const CaseResult& result) { return !contention_text(result.contention).empty(); }

std::string seconds_text(const std::optional<Answer>& answer) {
  return answer && answer->answer_s ? format_seconds(*answer->answer_s) : "-";
}

// The ranking metric to show. A trial shows the metric that judges it. A case shows the metric of
// its target, or the metric by which its parameters were tuned.
Metric shown_metric(const ResultFile& file, Metric judged) {
  for (const char* of : {"trial", "target", "tuned"}) {
    const auto asked = find_metric(text_at(file.header, {of, "metric"}).value_or(""));
    if (asked && asked->is_ranking() && last_of(file, *asked)) return *asked;
  }
  return judged;
}

// The metric at the epoch of the headline.
std::optional<double> metric_at(const ResultFile& file, Metric metric,
                                const std::optional<Headline>& headline) {
  for (const Json& point : file.trace) {
    if (headline && integer_at(point, {"epoch"}) == headline->at.epoch) {
      return number_at(point, {metric.key().c_str()});
    }
  }
  return std::nullopt;
}

std::string time_text(const ResultFile& file, Metric metric) {
  const auto target = named_target(file.header);
  if (!target) return fmt::format("answer {:>8}", seconds_text(answer_at_end(file)));
  const std::string value = (target->metric == metric ? "" : target->metric.label() + " ") +
                            fmt::format("{:g}", target->value);
  const auto reached = answer_at(file, *target);
  return reached ? fmt::format("to {} in {:>8}", value, seconds_text(reached))
                 : fmt::format("to {} {:>11}", value, "never");
}

}  // namespace

std::string numbers_text(const std::optional<ResultFile>& file) {
  if (!file || file->status() != Status::completed) return "";
  const Metric judged = judged_by(*file);
  const Metric metric = shown_metric(*file, judged);
  const auto value = metric_at(*file, metric, headline_of(*file, judged));
  return fmt::format("{} {:>7}  {}", metric.label(), value ? metric.format(*value) : "-",
                     time_text(*file, metric));
}

std::string ending_text(const CaseResult& result) {
  const std::string& status = kStatuses.of(result.status);
  if (result.status != Status::completed) return one_line(status + ": " + result.reason);
  return is_contended(result) ? "contended" : status;
}

std::optional<Colour> ending_colour(const CaseResult& result) {
  if (is_failure(result.status)) return Colour::red;
  if (result.status != Status::completed || is_contended(result)) return Colour::yellow;
  return std::nullopt;
}

}  // namespace mf
