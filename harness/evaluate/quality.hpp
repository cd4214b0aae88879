// The quality of a model beyond the error of single ratings: the objective of implicit feedback and
// ranking on held-out interactions, on the host or, for factors in device memory, there. Never on
// the training clock.
//
// The items are ranked by p . q for implicit feedback; for explicit ratings by the prediction
// before it is clipped (evaluator.hpp), less the terms common to all items of a user. Users who
// were held out whole get their factors by fold-in first (fold_in.hpp). A model that scores users
// by their histories (FactorView::scores) is given these instead, and has no objective.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/device_stream.hpp"
#include "algorithms/core/model.hpp"
#include "base/json/json_fwd.hpp"
#include "base/threads.hpp"
#include "datasets/split/split.hpp"
#include "harness/evaluate/device/device_quality.hpp"
#include "harness/evaluate/fold_in.hpp"
#include "harness/evaluate/implicit_objective.hpp"
#include "harness/evaluate/predictor.hpp"
#include "harness/evaluate/ranking.hpp"
#include "harness/experiment/metric.hpp"

namespace mf {

// Of the last evaluation, beside the metrics of the case.
struct RankingNotes {
  MetricValues cold;      // over the users without a history; empty without any
  std::int64_t tied = 0;  // users whose first kRanks items all have one score
};

class QualityEvaluator {
 public:
  // `split` must live as long as this; `known`: users and items of its training part. With an
  // implicit loss the objective is computed. `ranking` asks for its metrics: all on the test part
  // or, without the objective, all on the validation part. In a `trial` the test part of `split` is
  // its validation part. `team` reads all histories.
  QualityEvaluator(const Split& split, const Predictor& known, const FoldInLoss& loss,
                   const std::optional<RankingSpec>& ranking, ThreadTeam& team, bool trial = false);

  // As Evaluator::set_stream.
  void set_stream(DeviceStream stream) { stream_ = stream; }
  // For another model of pairs by the same lists, without an objective.
  void begin_model(const FoldInLoss& loss) {
    loss_ = loss;
    notes_ = {};
  }

  MetricValues evaluate(const FactorView& model, ThreadTeam& team);

  const RankingNotes& notes() const { return notes_; }
  // Why there will be no ranking metric, for the user; empty if a ranked user has a history.
  std::optional<std::string> why_unranked() const;
  // Why the ranking says little, for the user; empty if most users have scores that differ.
  std::optional<std::string> why_tied() const;

  // The objective of P = Q = 0; empty without an implicit loss.
  std::optional<double> zero_objective(ThreadTeam& team) const;

  // The header's "ranking": the users that metrics are means over, and the rules. Null if not
  // asked.
  Json ranking_json() const;

 private:
  RankedItems rank(const FactorView& model, ThreadTeam& team);
  RankedItems rank_by_history(const FactorView& model, ThreadTeam& team);
  RankedItems rank_on_host(const FactorView& model, View<const float> folded,
                           ThreadTeam& team) const;
  RankedItems rank_on_device(const FactorView& model, const FactorView& host_items,
                             View<const float> folded);
  DeviceRanking& device_ranking(View<const float> extra);
  AlignedVector<float> fold_in(const FactorView& model, ThreadTeam& team) const;
  AlignedVector<float> item_rows(const FactorView& model) const;
  bool needs_host_items() const { return !folded_.empty() || !loss_.implicit; }
  void choose_rows();
  void evaluate_ranking(const FactorView& model, ThreadTeam& team, MetricValues& values);
  void note(const RankedItems& ranked, ThreadTeam& team);

  const Split* split_;
  FoldInLoss loss_;
  std::optional<RankingSpec> ranking_;
  std::optional<ImplicitObjective> objective_;
  Predictor known_;  // which users and items training knows
  bool validation_seen_ = false;
  RankedUsers ranked_;
  std::int64_t cold_ = 0;  // of them, without a history
  RankingNotes notes_;
  std::vector<std::int32_t> rows_;    // of each ranked user: see RankedRow
  std::vector<std::int32_t> folded_;  // users whose rows come from fold-in, by their slot
  std::vector<float> extra_;          // explicit: weights of items' own scores
  DeviceStream stream_ = nullptr;
  std::unique_ptr<DeviceObjective> device_objective_;
  std::unique_ptr<DeviceRanking> device_ranking_;
};

}  // namespace mf
