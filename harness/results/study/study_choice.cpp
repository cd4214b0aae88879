#include "harness/results/study/study_choice.hpp"

#include <algorithm>
#include <tuple>

namespace mf {
namespace {

class Walk {
 public:
  Walk(const StudyPlan& plan, const TrialOutcomes& outcomes) : plan_(plan), outcomes_(outcomes) {}

  StudyState state() {
    std::vector<std::size_t> going(plan_.points.size());
    for (std::size_t i = 0; i < going.size(); ++i) going[i] = i;
    for (std::size_t rung = 0; rung < plan_.rungs.size() && !going.empty(); ++rung) {
      const std::int64_t before = state_.runs;
      last_wall_s_ = 0;
      for (const std::size_t trial : going) {
        if (is_spent(rung)) break;
        if (!take({trial, rung})) break;
      }
      if (!state_.over()) break;
      going = best_of(going, rung, survivors(state_.runs - before, plan_.tune.eta));
    }
    rank();
    while (state_.over() && train_on()) rank();
    return std::move(state_);
  }

 private:
  bool is_spent(std::size_t rung) {
    const double share = static_cast<double>(rung + 1) / static_cast<double>(plan_.rungs.size());
    const auto& [budget, wall] = std::tie(plan_.tune.budget_s, plan_.tune.wall_s);
    const bool spent = (budget && state_.seconds >= share * *budget) ||
                       (wall && state_.wall_s + last_wall_s_ >= share * *wall);
    state_.out_of_budget = state_.out_of_budget || spent;
    return spent;
  }

  // False: it has not run.
  bool take(const TrialPlace& place) {
    const auto found = outcomes_.find(place);
    if (found == outcomes_.end()) {
      state_.next = place;
      return false;
    }
    const TrialOutcome& outcome = found->second;
    TrialStanding& standing = standings_[place.trial];
    standing.place = place;
    standing.outcome = outcome;
    standing.seconds += outcome.seconds;
    state_.seconds += outcome.seconds;
    state_.wall_s += outcome.wall_s;
    last_wall_s_ = outcome.wall_s;
    ++state_.runs;
    return true;
  }

  bool before(const TrialStanding& a, const TrialStanding& b) const {
    if (a.lost() != b.lost()) return b.lost();
    if (a.place.rung != b.place.rung) return a.place.rung > b.place.rung;
    if (!a.lost() && *a.outcome.score != *b.outcome.score) {
      return plan_.metric.is_better(*a.outcome.score, *b.outcome.score);
    }
    return a.place.trial < b.place.trial;
  }

  std::vector<std::size_t> best_of(const std::vector<std::size_t>& trials, std::size_t rung,
                                   std::int64_t count) const {
    std::vector<const TrialStanding*> good;
    for (const std::size_t trial : trials) {
      const auto found = standings_.find(trial);
      if (found == standings_.end() || found->second.place.rung != rung) continue;
      if (!found->second.lost()) good.push_back(&found->second);
    }
    std::sort(good.begin(), good.end(), [this](auto* a, auto* b) { return before(*a, *b); });
    std::vector<std::size_t> best;
    for (const auto* one : good) {
      if (std::ssize(best) < count) best.push_back(one->place.trial);
    }
    return best;
  }

  // Takes a trial that was stopped too early to the last rung; false: no such trial, or no budget.
  bool train_on() {
    const std::size_t last = plan_.rungs.size() - 1;
    if (state_.best() == nullptr || state_.best()->place.rung != last) return false;
    const auto better = state_.better_stopped(plan_.metric);
    return !better.empty() && !is_spent(last) && take({better.front()->place.trial, last});
  }

  void rank() {
    state_.standings.clear();
    for (const auto& [trial, standing] : standings_) state_.standings.push_back(standing);
    std::sort(state_.standings.begin(), state_.standings.end(),
              [this](const auto& a, const auto& b) { return before(a, b); });
  }

  const StudyPlan& plan_;
  const TrialOutcomes& outcomes_;
  std::map<std::size_t, TrialStanding> standings_;  // by trial
  StudyState state_;
  double last_wall_s_ = 0;  // of the last trial of the rung
};

}  // namespace

const TrialStanding* StudyState::best() const {
  return standings.empty() || standings.front().lost() ? nullptr : &standings.front();
}

std::vector<const TrialStanding*> StudyState::better_stopped(const Metric& metric) const {
  std::vector<const TrialStanding*> found;
  const TrialStanding* const chosen = best();
  if (chosen == nullptr) return found;
  for (const TrialStanding& one : standings) {
    const bool stopped = !one.lost() && one.place.rung < chosen->place.rung;
    if (stopped && metric.is_better(*one.outcome.score, *chosen->outcome.score)) {
      found.push_back(&one);
    }
  }
  std::stable_sort(found.begin(), found.end(), [&](const auto* a, const auto* b) {
    return metric.is_better(*a->outcome.score, *b->outcome.score);
  });
  return found;
}

StudyState state_of(const StudyPlan& plan, const TrialOutcomes& outcomes) {
  return Walk(plan, outcomes).state();
}

}  // namespace mf
