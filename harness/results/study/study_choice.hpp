// The choice of a study from the ends of its trials: the same for the same trials in any order. It
// also says which trial is to run next, so that a run and a look at its files agree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/experiment/spec.hpp"

namespace mf {

// How a trial ended in one rung.
struct TrialOutcome {
  Status status = Status::error;
  std::string reason;
  std::optional<double> score;  // after its last epoch, on the validation part; of completed ones
  double seconds = 0;           // answer time: prepare, transfer and training
  double wall_s = 0;            // with evaluations and all else, but start and loading
};

struct TrialPlace {
  std::size_t trial = 0;  // its index among the points
  std::size_t rung = 0;
  bool operator==(const TrialPlace&) const = default;
  bool operator<(const TrialPlace& other) const {
    return std::pair(trial, rung) < std::pair(other.trial, other.rung);
  }
};

using TrialOutcomes = std::map<TrialPlace, TrialOutcome>;  // of the trials that have run

// A trial with the highest rung that it has run.
struct TrialStanding {
  TrialPlace place;
  TrialOutcome outcome;  // of that rung
  double seconds = 0;    // of all its rungs
  bool lost() const { return !outcome.score; }
};

struct StudyState {
  std::optional<TrialPlace> next;        // to be run now
  std::vector<TrialStanding> standings;  // the best first; those that failed last
  std::int64_t runs = 0;                 // trials in all rungs
  double seconds = 0, wall_s = 0;        // of all of them
  bool out_of_budget = false;            // the budget ended a rung before its trials had all run

  bool over() const { return !next; }
  // The best trial; nothing while all have failed.
  const TrialStanding* best() const;
  // Trials stopped at a better score than the best one reached after more epochs; the best first.
  std::vector<const TrialStanding*> better_stopped(const Metric& metric) const;
};

// Rung by rung: the draws in order, then the best of each rung, the best first. For R rungs, the
// r-th begins trials until r / R of the budget are spent, or the wall time of a trial like the last
// one would pass r / R of that limit. A rung keeps one in eta of its trials, if
// they have a score. More epochs may make a model worse: a trial that was stopped at a better score
// than the best trial at the end is trained to the end, too, the best first, until all are done or
// the budget is spent. A trial that fails in a rung has lost, even after good rungs; of the others
// the best of the highest rung wins, of equal ones the one drawn first.
StudyState state_of(const StudyPlan& plan, const TrialOutcomes& outcomes);

}  // namespace mf
