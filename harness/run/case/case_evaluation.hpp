// Judges the model of a case by its metrics.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ranks/communicator.hpp"
#include "harness/evaluate/evaluator.hpp"
#include "harness/evaluate/quality.hpp"
#include "harness/evaluate/user_groups.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/results/files/case_data.hpp"
#include "harness/results/files/case_result.hpp"

namespace mf {

class CaseRanks;
class PreparedCase;

class CaseEvaluation {
 public:
  explicit CaseEvaluation(const Case& item) : item_(item) {}

  // As they were loaded, and again if training ratings were dropped. For a trial the validation
  // part stands for the test part, too.
  void set_data(const CaseData& data);
  const Ratings& test() const { return parts_->test; }
  PartSizes sizes() const;  // of the evaluated parts, over all ranks

  // "the test part is empty: ...; choose another ...", or nothing: what a case learns from, is
  // judged by or watches must have ratings.
  std::optional<std::string> why_not() const;

  // Looks through the histories of all users; for a trial, `of_study` keeps them from an earlier
  // trial. All outlive this.
  void prepare(ThreadTeam& team, DeviceStream stream,
               std::shared_ptr<QualityEvaluator>* of_study = nullptr);

  // Sets the metrics of the point.
  void evaluate(PreparedCase& prepared, CaseRanks& ranks, TracePoint& point);
  // All ranks together, each its blocks of the test part; the numbers of one process, on all.
  void evaluate_share(const FactorView& model, Communicator& ranks, TracePoint& point);
  // For a model that has learned nothing, once epoch 0 is evaluated.
  std::optional<double> trivial_error() const { return trivial_error_; }
  Reference reference(const TracePoint& start) const;  // epoch 0
  // Why training may have failed, for its reason: ratings too large for fp32, or values that look
  // like counts; or "".
  std::string hint_of_failure() const;

  std::vector<UserGroup> user_groups(PreparedCase& prepared) const;
  void save(const std::string& folder, PreparedCase& prepared) const;

  FoldInLoss loss() const;
  Json ranking_json() const;  // for the header; null if items are not ranked
  // For the last evaluation: its facts in the footer, and its weaknesses.
  void report(CaseMeasures& measures) const;
  std::vector<std::string> warnings() const;
  // Warns before training if the metrics cannot distinguish models.
  std::vector<std::string> warnings_before() const;

 private:
  std::optional<std::string> why_no_stars_here() const;
  void evaluate_all(const FactorView& model, TracePoint& point);
  std::shared_ptr<QualityEvaluator> make_quality(const std::optional<RankingSpec>& ranking,
                                                 DeviceStream stream);
  bool ranks_items() const { return item_.evaluate.rank.value_or(false); }
  void evaluate_part(const FactorView& model, const Ratings& part, MetricPart name,
                     TracePoint& point) const;

  const Case& item_;
  CaseData data_;
  std::shared_ptr<const Split> parts_;
  ThreadTeam* team_ = nullptr;
  std::unique_ptr<Evaluator> evaluator_;
  std::shared_ptr<QualityEvaluator> quality_;
  std::shared_ptr<QualityEvaluator> validation_quality_;  // ranks items of the validation part
  std::optional<double> trivial_error_;
};

}  // namespace mf
