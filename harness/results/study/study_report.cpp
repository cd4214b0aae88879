#include "harness/results/study/study_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/json/json_values.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "harness/results/meaning/text_table.hpp"

namespace mf {
namespace {

std::string metric_name(const StudyPlan& plan) { return plan.metric.key(); }

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? fmt::format("{:g}", value.get<double>()) : value.dump();
}

// "learning_rate=0.01 reg=0.05"
std::string values_text(const Json& values) {
  std::vector<std::string> words;
  for (const auto& [name, value] : values.items()) words.push_back(name + "=" + value_text(value));
  return join(words, " ");
}

std::string score_text(const StudyPlan& plan, const TrialStanding& standing) {
  return standing.lost() ? "-" : plan.metric.format(*standing.outcome.score);
}

const Json& values_of(const StudyPlan& plan, const TrialStanding& standing) {
  return plan.points.at(standing.place.trial);
}

std::string range_text(const TuneRange& range) {
  std::string text;
  for (const Json& one : range.to_json()) text += (text.empty() ? "" : ", ") + value_text(one);
  return "[" + text + "]";
}

// "20 diverged, 4 oom"
std::string lost_text(const StudyState& state) {
  std::map<std::string, int> counts;
  for (const auto& one : state.standings) {
    if (!one.lost()) continue;
    const bool scoreless = one.outcome.status == Status::completed;
    ++counts[scoreless ? "without a score" : kStatuses.of(one.outcome.status)];
  }
  std::vector<std::string> words;
  for (const auto& [name, count] : counts) words.push_back(fmt::format("{} {}", count, name));
  return join(words);
}

// "24 of 24 trials, 35 runs of 2, 7 and 20 epochs, 12.3 s of 600 s"
std::string effort_text(const StudyPlan& plan, const StudyState& state) {
  std::vector<std::string> rungs;
  for (const auto epochs : plan.rungs) rungs.push_back(fmt::format("{}", epochs));
  std::string text =
      fmt::format("{} of {} trials, {} runs of {} epochs, {}", state.standings.size(),
                  plan.trials(), state.runs, join(rungs, " / "), format_seconds(state.seconds));
  if (plan.tune.budget_s) text += " of " + format_seconds(*plan.tune.budget_s);
  if (state.out_of_budget) text += ", the budget is spent";
  if (!state.over()) text += ", not finished";
  if (plan.trials() < plan.tune.trials) {
    text += fmt::format(", {} asked for: the ranges have no more", plan.tune.trials);
  }
  return text;
}

Cells row_of(const StudyPlan& plan, const TrialStanding& one, bool best) {
  Cells row = {fmt::format("{}", one.place.trial + 1),
               fmt::format("{}", plan.rungs.at(one.place.rung)), score_text(plan, one),
               format_seconds(one.seconds)};
  for (const auto& range : plan.tune.over) {
    row.push_back(value_text(values_of(plan, one).at(range.name)));
  }
  row.emplace_back(best ? "chosen" : one.lost() ? one.outcome.reason : "");
  return row;
}

}  // namespace

Json tuned_json(const StudyPlan& plan, const StudyState& state, std::uint64_t split_seed) {
  const TrialStanding& best = *state.best();
  const Json& values = values_of(plan, best);
  return {{"study", plan.name},
          {"trial", best.place.trial + 1},
          {"values", values},
          {"metric", metric_name(plan)},
          {"score", *best.outcome.score},
          {"epochs", plan.rungs.at(best.place.rung)},
          {"trials", state.standings.size()},
          {"runs", state.runs},
          {"trials_s", state.seconds},
          {"out_of_budget", state.out_of_budget},
          {"split_seed", split_seed},
          {"edges", on_edges(plan.tune.over, values)},
          {"search", plan.tune.to_json()}};
}

Unresolved why_nothing(const StudyState& state) {
  const bool skipped =
      !state.standings.empty() &&
      std::all_of(state.standings.begin(), state.standings.end(),
                  [](const auto& one) { return one.outcome.status == Status::skipped; });
  std::string reason = "its search has chosen nothing: ";
  if (state.standings.empty()) {
    reason += "no trial has run";
  } else {
    reason += fmt::format("no trial has completed ({}); the first: {}", lost_text(state),
                          state.standings.front().outcome.reason);
  }
  return {skipped ? Status::skipped : Status::error, reason};
}

std::string edges_warning(const std::vector<FoundStudy>& studies) {
  std::string text;
  for (const auto& [plan, state] : studies) {
    if (!state.over() || state.best() == nullptr) continue;
    const Json& values = values_of(plan, *state.best());
    const auto names = on_edges(plan.tune.over, values);
    std::string before = plan.label + ": ";
    for (const auto& range : plan.tune.over) {
      if (std::find(names.begin(), names.end(), range.name) == names.end()) continue;
      text += fmt::format("{}{}the best {}, {}, lies at an end of {}", text.empty() ? "" : "; ",
                          std::exchange(before, ""), range.name, value_text(values.at(range.name)),
                          range_text(range));
    }
  }
  return text.empty() ? "" : text + "; better ones may lie beyond: widen the ranges";
}

std::string choice_warning(const StudyPlan& plan, const StudyState& state) {
  const auto better = state.better_stopped(plan.metric);
  if (better.empty()) return "";
  const TrialStanding& chosen = *state.best();
  return fmt::format(
      "{}: trial {} was stopped after {} epochs at {} {}, better than the {} of the chosen one "
      "after {}: more epochs make it worse, or the budget ended the search; fewer stop.epochs, "
      "\"eta\": 1 or more budget_s tell",
      plan.label, better.front()->place.trial + 1, plan.rungs.at(better.front()->place.rung),
      metric_name(plan), score_text(plan, *better.front()), score_text(plan, chosen),
      plan.rungs.at(chosen.place.rung));
}

std::string choice_line(const StudyPlan& plan, const StudyState& state) {
  if (state.best() == nullptr) {
    return plan.label + ": " + (!state.over() ? "not finished" : why_nothing(state).reason);
  }
  const TrialStanding& best = *state.best();
  return fmt::format("{}: {} ({} {}, trial {} of {})", plan.label,
                     values_text(values_of(plan, best)), metric_name(plan), score_text(plan, best),
                     best.place.trial + 1, plan.trials());
}

std::string to_text(const StudyPlan& plan, const StudyState& state, std::size_t rows) {
  std::string text = one_line(plan.label) + "\n  " + effort_text(plan, state) + "\n";
  if (!state.standings.empty()) {
    std::vector<Column> columns = {{"  trial"}, {"epochs"}, {metric_name(plan)}, {"seconds"}};
    for (const auto& range : plan.tune.over) columns.push_back({range.name});
    columns.push_back({"", true});
    std::vector<Cells> lines;
    for (const auto& one : state.standings) {
      if (lines.size() == rows) break;
      const bool best = state.over() && &one == state.best();
      lines.push_back(row_of(plan, one, best));
    }
    text += table_text(std::move(columns), std::move(lines), kAnyWidth);
    if (state.standings.size() > rows) {
      text += fmt::format("  and {} more\n", state.standings.size() - rows);
    }
  }
  const std::string lost = lost_text(state);
  if (!lost.empty()) text += "  lost: " + lost + "\n";
  if (state.over() && state.best() == nullptr) text += "  " + why_nothing(state).reason + "\n";
  return text;
}

Json to_json(const StudyPlan& plan, const StudyState& state) {
  Json trials = Json::array();
  for (const auto& one : state.standings) {
    trials.push_back({{"trial", one.place.trial + 1},
                      {"epochs", plan.rungs.at(one.place.rung)},
                      {"values", values_of(plan, one)},
                      {"status", kStatuses.of(one.outcome.status)},
                      {"reason", one.outcome.reason},
                      {"score", or_null(one.outcome.score)},
                      {"seconds_s", one.seconds}});
  }
  const bool chosen = state.over() && state.best() != nullptr;
  const Json values = chosen ? values_of(plan, *state.best()) : Json();
  return {{"study", plan.name},
          {"label", plan.label},
          {"metric", metric_name(plan)},
          {"search", plan.tune.to_json()},
          {"rungs", plan.rungs},
          {"finished", state.over()},
          {"chosen", values},
          {"score", chosen ? Json(*state.best()->outcome.score) : Json()},
          {"edges", chosen ? Json(on_edges(plan.tune.over, values)) : Json::array()},
          {"runs", state.runs},
          {"trials_s", state.seconds},
          {"out_of_budget", state.out_of_budget},
          {"trials", trials}};
}

}  // namespace mf
