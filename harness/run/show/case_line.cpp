#include "harness/run/show/case_line.hpp"

#include <fmt/core.h>

#include "base/text.hpp"
#include "harness/results/compare/compared_case.hpp"
#include "harness/results/compare/headline.hpp"
#include "harness/results/files/load_json.hpp"
#include "harness/results/meaning/answer.hpp"

namespace mf {
namespace {

bool is_contended(const CaseResult& result) { return !contention_text(result.contention).empty(); }

std::string seconds_text(const std::optional<Answer>& answer) {
  return answer && answer->answer_s ? format_seconds(*answer->answer_s) : "-";
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
  const Metric metric = judged_by(*file);
  const auto found = headline_of(*file, metric);
  return fmt::format("{} {:>7}  {}", metric.label(), found ? metric.format(found->at.value) : "-",
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
