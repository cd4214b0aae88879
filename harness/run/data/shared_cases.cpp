#include "harness/run/data/shared_cases.hpp"

#include <algorithm>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/streaming/streaming.hpp"
#include "harness/run/ranks/rank_world.hpp"

namespace mf {
namespace {

bool has_same(const char* section, const Case& a, const Case& b) {
  return a.resolved.at(section) == b.resolved.at(section);
}

}  // namespace

// Backwards: a need of a neighbour of the same split is the case's, too.
std::vector<DoneAgain> done_again(std::span<const Case* const> cases) {
  std::vector<DoneAgain> all(cases.size());
  DoneAgain later;  // `trained`: by one of the later ones, even if not by this case
  for (std::size_t i = cases.size(); i-- > 0;) {
    const Case& own = *cases[i];
    if (i + 1 < cases.size()) {
      const Case& next = *cases[i + 1];
      const bool data = has_same("dataset", own, next);
      const bool split = data && has_same("split", own, next);
      later.cut = data && (!split || later.cut);
      later.trained = split && (trains_on_one_device(next) || later.trained);
      later.handed_over = split && (has_own_process(next) || later.handed_over);
    }
    all[i] = later;
    all[i].trained = later.trained && trains_on_one_device(own);
  }
  return all;
}

bool needs_train_errors(const Case& item) {
  if (is_implicit(item)) return false;
  const std::vector<Metric> named = named_metrics(item);
  const auto of_train = [](Metric one) { return one->part == MetricPart::train; };
  // Groups of users are those of the mean of all draws.
  if (is_sampler(item) && item.evaluate.user_groups > 0) return true;
  return item.evaluate.train || std::any_of(named.begin(), named.end(), of_train);
}

bool needs_device(const Case& item) {
  return find_algorithm(item.algorithm).hardware == Hardware::cuda;
}

bool has_own_process(const Case& item) { return find_algorithm(item.algorithm).foreign != nullptr; }

bool repeats_epochs(const Case& item) {
  const auto& foreign = find_algorithm(item.algorithm).foreign;
  return foreign && foreign->repeats_epochs;
}

bool trains_on_one_device(const Case& item) {
  return needs_device(item) && ranks_of(item) == 1 && !streams_ratings(item.params);
}

bool uploads_ratings(const Case& item) { return needs_device(item) && !has_own_process(item); }

UsersColumn users_column(const Case& item) {
  const bool judges_training = needs_train_errors(item) || item.evaluate.user_groups > 0;
  const bool by_rows = uploads_ratings(item) && !is_implicit(item) && !judges_training;
  return by_rows ? UsersColumn::on_demand : UsersColumn::made;
}

}  // namespace mf
