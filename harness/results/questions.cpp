#include "harness/results/questions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "datasets/readers/columns.hpp"
#include "harness/experiment/metric_keys.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/compare/compared_case.hpp"
#include "harness/results/compare/compared_numbers.hpp"
#include "harness/results/compare/winner.hpp"
#include "harness/results/meaning/stats.hpp"

namespace mf {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const Json& part_of_question(const Json& question, const char* key) {
  const Json& value = value_at(question, {key});
  if (value.is_null()) fail(ErrorKind::usage, "a question without \"{}\"", key);
  return value;
}

// null becomes `absent`.
std::vector<double> numbers_in(const Json& list, double absent) {
  std::vector<double> values;
  if (!list.is_array()) fail(ErrorKind::usage, "found {}, expected a list", describe(list));
  for (const Json& value : list) {
    if (!value.is_number() && !value.is_null()) {
      fail(ErrorKind::usage, "found {}, expected a number or null", describe(value));
    }
    values.push_back(value.is_null() ? absent : value.get<double>());
  }
  return values;
}

TargetSpec target_in(const Json& question) {
  const auto target = named_target({{"target",
                                     {{"metric", part_of_question(question, "metric")},
                                      {"value", part_of_question(question, "target")}}}});
  if (!target) fail(ErrorKind::usage, "no such target: {}", question.dump());
  return *target;
}

Metric metric_in(const Json& question, const char* key) {
  const auto metric = find_metric(text_at(question, {key}).value_or(""));
  if (!metric) fail(ErrorKind::usage, "no such metric: {}", question.dump());
  return *metric;
}

// {"ask": "first at target", "metric": ..., "target": ..., "runs": [[values], ...]}: of each run
// the place of the first value that meets the target, or null.
Json first_at_target(const Json& question) {
  const auto target = target_in(question);
  Json places = Json::array();
  for (const Json& run : part_of_question(question, "runs")) {
    const auto values = numbers_in(run, kNaN);
    const auto first = std::find_if(values.begin(), values.end(), [&](double value) {
      return target.metric.meets(value, target.value);
    });
    places.push_back(first == values.end() ? Json() : Json(first - values.begin()));
  }
  return places;
}

Json ratio_json(double value, const std::optional<Interval>& interval) {
  return {{"value", number_or_null(value)},
          {"low", interval ? number_or_null(interval->low) : Json()},
          {"high", interval ? number_or_null(interval->high) : Json()}};
}

std::vector<double> logarithms_of(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

// For the ratio by which `above` is over `below`, run against run. By ranks if one is infinite;
// empty if that would be unbounded.
std::optional<Interval> interval_of_ratio(const std::vector<double>& above,
                                          const std::vector<double>& below) {
  const auto enough = [](const auto& side) {
    return std::ssize(side) >= kFewestRuns && all_positive(side);
  };
  if (!enough(above) || !enough(below)) return std::nullopt;
  const auto finite = [](const auto& side) {
    return std::all_of(side.begin(), side.end(), [](double value) { return std::isfinite(value); });
  };
  const auto a = logarithms_of(below), b = logarithms_of(above);
  const Interval found = finite(above) && finite(below) ? difference_of_means(a, b).interval
                                                        : difference_by_ranks(a, b).interval;
  if (std::isinf(found.high)) return std::nullopt;
  return Interval{std::exp(found.low), std::exp(found.high)};
}

// {"ask": "ratio", "of": [...], "over": [...]}: of the medians, null being infinitely late.
Json ratio_of_medians(const Json& question) {
  const auto above = numbers_in(part_of_question(question, "of"), kNever);
  const auto below = numbers_in(part_of_question(question, "over"), kNever);
  const auto a = median(above), b = median(below);
  if (!a || !b || !std::isfinite(*a) || *a == 0 || !(*b > 0) || std::isinf(*b)) {
    return ratio_json(kNaN, std::nullopt);
  }
  return ratio_json(*a / *b, interval_of_ratio(above, below));
}

// {"ask": "ratio of pairs", "of": [...], "over": [...]}: the median of the ratios pair by pair; a
// pair without both numbers is left out.
Json ratio_of_pairs(const Json& question) {
  const auto above = numbers_in(part_of_question(question, "of"), kNaN);
  const auto below = numbers_in(part_of_question(question, "over"), kNaN);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(above.size(), below.size()); ++i) {
    if (std::isfinite(above[i]) && below[i] > 0) ratios.push_back(above[i] / below[i]);
  }
  const bool enough = std::ssize(ratios) >= kFewestRuns && all_positive(ratios);
  if (!enough) return ratio_json(median(ratios).value_or(kNaN), std::nullopt);
  const Interval found = mean_of(logarithms_of(ratios)).interval;
  return ratio_json(*median(ratios), Interval{std::exp(found.low), std::exp(found.high)});
}

std::vector<Racer> racers_in(const Json& question) {
  std::vector<Racer> racers;
  for (const Json& one : part_of_question(question, "racers")) {
    auto quality = numbers_in(value_at(one, {"quality"}), kNaN);
    std::erase_if(quality, [](double value) { return std::isnan(value); });
    racers.push_back({text_at(one, {"name"}).value_or(""),
                      numbers_in(value_at(one, {"answers"}), kNever), std::move(quality),
                      value_at(one, {"contended"}) == Json(true)});
  }
  return racers;
}

Json levels_of_targets(const Json& question) {
  return target_levels(racers_in(question), metric_in(question, "metric"),
                       number_at(question, {"named"}),
                       numbers_in(part_of_question(question, "frozen"), kNaN));
}

Json winner(const Json& question) {
  return winner_text(racers_in(question),
                     {target_in(question), text_at(question, {"data"}).value_or(""),
                      value_at(question, {"named"}) == Json(true), metric_in(question, "quality")});
}

// {"ask": "metric", "metric": "ndcg@10"}: its row; null without one.
Json metric_row(const Json& question) {
  const auto metric = find_metric(text_at(question, {"metric"}).value_or(""));
  return metric ? metric_json(*metric) : Json();
}

// The place of a role among the names of columns; null if two columns are pairs without one.
Json place_of(Role role, const std::vector<std::string>& fields, const Roles& roles,
              const ColumnNames& names) {
  const auto found = std::find(roles.of.begin(), roles.of.end(), role);
  const int rival = roles.rivals[static_cast<std::size_t>(role)];
  if (found != roles.of.end() && rival < 0) return found - roles.of.begin();
  const bool asked = !names.of(role).empty();
  if (role == Role::rating && rival < 0 && !asked && fields.size() == 2) return {};
  const std::string wanted = asked ? "a column " + in_quotes(names.of(role))
                                   : fmt::format("one column for the {}", kRoleNames.of(role));
  const std::string advice =
      R"(name them as in "columns": {"user": "visitor", "item": "sku", "rating": "qty"})";
  const bool unrated = role == Role::rating && rival < 0 && !asked;
  fail(ErrorKind::usage, "found the columns {}, expected {}; {}{}", join(fields), wanted, advice,
       unrated ? ", or, if every row is an observed pair, say \"format\": \"pairs\"" : "");
}

// {"ask": "columns", "names": ["userId", ...], "columns": {"item": "sku"}}: the places of user,
// item, rating and time, as of a header (datasets/readers/columns.hpp); with "pairs": true, each
// row is an observed pair, and a rating is passed over. A time is not needed, and has no place if
// several columns claim to be it.
Json column_places(const Json& question) {
  std::vector<std::string> fields;
  for (const Json& name : part_of_question(question, "names")) {
    fields.push_back(name.is_string() ? name.get<std::string>() : name.dump());
  }
  const auto name_of = [&](const char* role) {
    return text_at(question, {"columns", role}).value_or("");
  };
  const ColumnNames names = {name_of("user"), name_of("item"), name_of("rating"), name_of("time")};
  const Roles roles = roles_of(fields, names);
  const bool pairs = value_at(question, {"pairs"}) == Json(true);
  Json places;
  for (const Role role : {Role::user, Role::item, Role::rating}) {
    const bool unrated = pairs && role == Role::rating;
    places[kRoleNames.of(role)] = unrated ? Json() : place_of(role, fields, roles, names);
  }
  const bool unclear = roles.rivals[static_cast<std::size_t>(Role::time)] >= 0;
  const bool timed = !names.time.empty() || (roles.has(Role::time) && !unclear);
  places["time"] = timed ? place_of(Role::time, fields, roles, names) : Json();
  return places;
}

constexpr Names kQuestions{std::to_array<Named<Json (*)(const Json&)>>(
    {{"metric", metric_row},
     {"metrics", [](const Json&) { return metric_table(); }},
     {"first at target", first_at_target},
     {"ratio", ratio_of_medians},
     {"ratio of pairs", ratio_of_pairs},
     {"targets", levels_of_targets},
     {"finish", [](const Json& question) { return Json(finish_order(racers_in(question))); }},
     {"winner", winner},
     {"columns", column_places}})};

}  // namespace

Json answer_question(const Json& question) {
  const auto answer = kQuestions.parse(text_at(question, {"ask"}).value_or(""), "\"ask\"");
  return answer(question);
}

void answer_questions(std::istream& in, std::ostream& out) {
  std::string line;
  while (std::getline(in, line)) {
    Json answer;
    try {
      const Json question = parse_json(line, "question");
      answer["id"] = value_at(question, {"id"});
      answer["answer"] = answer_question(question);
    } catch (const Error& error) {
      answer["error"] = error.what();
    }
    out << answer.dump() << "\n" << std::flush;
  }
}

}  // namespace mf
