// The search of an entry's "tune": its parameters, ranges, number of trials, and their points.
// docs/tuning.md has the reasons.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "base/json/form.hpp"
#include "base/json/json.hpp"
#include "harness/experiment/metric.hpp"

namespace mf {

// Where the values of one parameter are drawn from: a range, or a list of choices.
struct TuneRange {
  std::string name;  // of a parameter, or "learning_rate"
  double low = 0, high = 0;
  bool log = false;    // drawn on a logarithmic axis
  bool whole = false;  // an integer
  // The parameter's own bounds.
  double least = 0, most = 0;
  std::vector<Json> choices;  // instead of the range, if any

  Json to_json() const;  // as in the spec
};

struct TuneSpec {
  std::int64_t trials = 24;
  std::vector<TuneRange> over;
  std::optional<double> budget_s;  // of the trials' answer times; empty: no limit
  std::optional<double> wall_s;    // of their wall times, after start and loading; empty: no limit
  std::int64_t eta = 3;            // a rung keeps one trial in eta; 1: all train to the end
  std::uint64_t seed = 1;          // of the draws
  std::optional<Metric> metric;    // nothing: the main one of the case

  Json to_json() const;
};

// Reads and checks against the parameters of the algorithm. Throws Error(usage) with the path.
TuneSpec parse_tune(const Json& json, const std::string& path, const AlgorithmInfo& algorithm);
FieldInfo tune_info();  // for the schema

// The value at u in [0, 1) along the range: an integer if it is whole, else with four digits.
Json value_along(const TuneRange& range, double u);

// Distinct points {"reg": 0.04, ...}, at most `trials`; fewer only where there are no more. A point
// depends only on the seed, the names and their ranges, and its number; so more trials are the
// same points and further ones.
std::vector<Json> draw_points(const TuneSpec& tune);

// Epochs of each rung, rising, the last one `epochs`: a ninth, a third and all of them for eta 3,
// each at least one epoch.
std::vector<std::int64_t> rung_epochs(std::int64_t epochs, std::int64_t eta);

// How many trials go on from a rung that `trials` have run.
constexpr std::int64_t survivors(std::int64_t trials, std::int64_t eta) {
  return (trials + eta - 1) / eta;
}

// Runs of a study in all its rungs; trials that are trained on after these come beside
// (study_choice.hpp).
std::int64_t count_runs(std::int64_t trials, std::int64_t eta, std::size_t rungs);

// The names of `values` within 5 % of an end of their range, unless that end is the parameter's own
// limit.
std::vector<std::string> on_edges(const std::vector<TuneRange>& over, const Json& values);

}  // namespace mf
