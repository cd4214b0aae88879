#include "harness/run/case/case_evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/core/registry.hpp"
#include "datasets/ratings/feedback.hpp"
#include "harness/evaluate/model_io.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/prepared.hpp"
#include "harness/run/ranks/case_ranks.hpp"

namespace mf {
namespace {

std::shared_ptr<const Split> without_test(const Split& split) {
  Split seen = split;
  seen.test = seen.validation;
  return std::make_shared<const Split>(std::move(seen));
}

bool needs_objective(const Case& item) {
  const auto rules = watching_rules(item);
  return !is_trial(item) || std::any_of(rules.begin(), rules.end(), [](const WatchingRule& rule) {
    return rule.monitor == kObjective;
  });
}

RankingSpec ranking_on(const Case& item, MetricPart part) {
  RankingSpec spec = ranking_of(item);
  std::erase_if(spec.metrics, [&](Metric one) { return one->part != part; });
  return spec;
}

std::optional<std::string> first_empty_part(const Case& item, const PartSizes& sizes) {
  if (sizes.train == 0) return "training";
  if (sizes.test == 0 && (item.evaluate.rank.value_or(false) || !is_implicit(item))) {
    return is_trial(item) ? "validation" : "test";
  }
  const std::vector<Metric> named = named_metrics(item);
  const auto unseen = [](Metric one) { return one->part == MetricPart::validation; };
  if (sizes.validation == 0 && std::any_of(named.begin(), named.end(), unseen)) return "validation";
  return std::nullopt;
}

// Where ratings differ by no more than fp32 can tell, an error of 0 is no result.
std::optional<std::string> why_indistinct(const RatingFacts& facts) {
  constexpr double kFewSteps = 0x1p-21;  // of fp32
  constexpr double kNormal = std::numeric_limits<float>::min();
  const double mean = facts.mean;
  if (facts.deviation > std::max(kFewSteps * std::abs(mean), kNormal)) return std::nullopt;
  constexpr double kMostLikelyRating = 1e6;
  return fmt::format(
      "the ratings of the training part are all {}{}, so an error says nothing of a model; {}",
      static_cast<float>(mean),
      facts.deviation > 0 ? " or so near to it that fp32 cannot tell them apart" : "",
      std::abs(mean) > kMostLikelyRating
          ? "is it a column of times or of ids? `columns` says which one has the ratings"
          : "observed pairs are implicit feedback: take ials_cpu or its like");
}

std::optional<double> rmse_of(const Accuracy& accuracy) {
  return accuracy.count > 0 ? std::optional(accuracy.rmse) : std::nullopt;
}

}  // namespace

void CaseEvaluation::set_data(const CaseData& data) {
  data_ = data;
  parts_ = is_trial(item_) ? without_test(*data.split) : data.split;
}

PartSizes CaseEvaluation::sizes() const { return data_.slice ? data_.sizes : sizes_of(*parts_); }

std::optional<std::string> CaseEvaluation::why_not() const {
  const PartSizes sizes = this->sizes();
  const auto part = first_empty_part(item_, sizes);
  if (!part) return std::nullopt;
  return fmt::format(
      "the {} part is empty: the split {} gives it 0 of {} ratings; choose another `holdout`, "
      "`leave_out`, `folds`, `by_time`, `leave_last`, `users` or `validation`, or a larger data "
      "set{}",
      *part, item_.resolved.at("split").dump(), sizes.all(),
      *part == "test" && is_implicit(item_)
          ? R"(; "evaluate": {"ranking": false} does without a test part)"
          : "");
}

void CaseEvaluation::prepare(ThreadTeam& team, DeviceStream stream,
                             std::shared_ptr<QualityEvaluator>* of_study) {
  team_ = &team;
  evaluator_ = std::make_unique<Evaluator>(data_.facts);
  evaluator_->set_stream(stream);
  if (!is_implicit(item_) && item_.evaluate.clip) {
    // A spec that has no scale for it is refused as a whole.
    const RatingScale& scale = data_.info->scale.value();
    evaluator_->set_clip(ClipRange{scale.min, scale.max});
  }
  if (!is_implicit(item_) && !ranks_items()) return;
  if (!ranks_items()) {
    quality_ = make_quality(std::nullopt, stream);
    return;
  }
  const bool shares =
      of_study != nullptr && is_trial(item_) && is_implicit(item_) && !needs_objective(item_);
  if (shares && *of_study) {
    quality_ = *of_study;
    quality_->set_stream(stream);
    quality_->begin_model(loss());
    return;
  }
  quality_ = make_quality(ranking_on(item_, MetricPart::test), stream);
  if (shares) *of_study = quality_;
  const RankingSpec validation = ranking_on(item_, MetricPart::validation);
  if (!validation.metrics.empty()) validation_quality_ = make_quality(validation, stream);
}

std::shared_ptr<QualityEvaluator> CaseEvaluation::make_quality(
    const std::optional<RankingSpec>& ranking, DeviceStream stream) {
  FoldInLoss loss = this->loss();
  loss.has_objective = loss.has_objective && needs_objective(item_);
  std::shared_ptr<QualityEvaluator> made(
      new QualityEvaluator(*parts_, evaluator_->predictor(), loss, ranking, *team_,
                           is_trial(item_)),
      [parts = parts_](const QualityEvaluator* one) { delete one; });
  made->set_stream(stream);
  return made;
}

void CaseEvaluation::evaluate_part(const FactorView& model, const Ratings& part, MetricPart name,
                                   TracePoint& point) const {
  point.set_errors(name, evaluator_->evaluate(model, part, *team_));
}

void CaseEvaluation::evaluate(PreparedCase& prepared, CaseRanks& ranks, TracePoint& point) {
  const Foreign* const foreign = prepared.foreign();
  if (const auto reported = foreign ? foreign->reported_rmse() : std::nullopt) {
    // A program's own error, the only source of it.
    point.by_program = true;
    point.metrics.set(error_metric(item_), *reported);
    return;
  }
  ranks.gather([&] { prepared.gather_factors(); });
  const FactorView model = prepared.factors();
  if (!data_.ranks.all_evaluate) return evaluate_all(model, point);
  ranks.evaluate(point.epoch, [&] { evaluate_share(model, *ranks.group(), point); });
}

// Values of implicit feedback are not ratings: they have no error.
void CaseEvaluation::evaluate_all(const FactorView& model, TracePoint& point) {
  const bool implicit = is_implicit(item_);
  if (point.epoch == 0) {
    trivial_error_ = implicit ? quality_->zero_objective(*team_)
                              : rmse_of(evaluator_->evaluate_mean(parts_->test, *team_));
  }
  if (!implicit) {
    evaluate_part(model, parts_->test, error_metric(item_)->part, point);
    if (!is_trial(item_)) evaluate_part(model, parts_->validation, MetricPart::validation, point);
    if (needs_train_errors(item_)) {
      evaluate_part(model, data_.split->train, MetricPart::train, point);
    }
  }
  // No rule of a trial looks at the ranking of its initial model.
  if (is_trial(item_) && point.epoch == 0) return;
  if (quality_) point.metrics.add(quality_->evaluate(model, *team_));
  if (validation_quality_) point.metrics.add(validation_quality_->evaluate(model, *team_));
}

void CaseEvaluation::evaluate_share(const FactorView& model, Communicator& ranks,
                                    TracePoint& point) {
  const SharedPart test = {parts_->test, data_.test_parts, ranks};
  const SharedPart validation = {parts_->validation, data_.validation_parts, ranks};
  if (point.epoch == 0) trivial_error_ = rmse_of(evaluator_->evaluate_mean(test, *team_));
  point.set_errors(MetricPart::test, evaluator_->evaluate(model, test, *team_));
  point.set_errors(MetricPart::validation, evaluator_->evaluate(model, validation, *team_));
}

Reference CaseEvaluation::reference(const TracePoint& start) const {
  constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
  return {start.metrics[error_metric(item_)].value_or(kNotKnown),
          trivial_error_.value_or(kNotKnown)};
}

std::string CaseEvaluation::hint_of_failure() const {
  if (!parts_) return "";
  constexpr double kLarge = 1e6;
  const double size = std::hypot(data_.facts->mean, data_.facts->deviation);
  if (size > kLarge) {
    return fmt::format(
        "; its cause may be ratings of about {:.2g}, beside which fp32 (24 bits) loses reg and all "
        "that is small: divide them, by {:.0e} or so",
        size, std::pow(10, std::floor(std::log10(size))));
  }
  const auto why = why_no_stars_here();
  return why ? "; " + *why : "";
}

std::optional<std::string> CaseEvaluation::why_no_stars_here() const {
  if (is_implicit(item_) || data_.info->scale || !parts_) return std::nullopt;
  return why_no_stars(parts_->train.values());
}

std::vector<UserGroup> CaseEvaluation::user_groups(PreparedCase& prepared) const {
  Model copy;
  return evaluate_user_groups(*evaluator_, prepared.host_factors(copy), *data_.split,
                              item_.evaluate.user_groups, *team_);
}

void CaseEvaluation::save(const std::string& folder, PreparedCase& prepared) const {
  Model copy;
  const FactorView model = prepared.host_factors(copy);
  try {
    save_model(folder, model, data_.split->train, evaluator_->predictor(), loss(), item_.resolved);
  } catch (const Error& error) {  // measurements stand
    fail(error.kind(), "the model is not saved: {}; then run the same command again", error.what());
  }
}

FoldInLoss CaseEvaluation::loss() const {
  return fold_in_loss(find_algorithm(item_.algorithm), item_.params);
}

void CaseEvaluation::report(CaseMeasures& measures) const {
  measures.trivial_error = trivial_error_;
  if (!ranks_items() || !quality_) return;
  measures.cold_ranking = quality_->notes().cold;
  measures.tied_users = quality_->notes().tied;
}

std::vector<std::string> CaseEvaluation::warnings() const {
  std::vector<std::string> all;
  if (const auto tied = quality_ ? quality_->why_tied() : std::nullopt) all.push_back(*tied);
  for (const auto& rule : rules_on_test(item_)) {
    all.push_back(rule + " watched the test part: what is measured on it was chosen by it");
  }
  return all;
}

std::vector<std::string> CaseEvaluation::warnings_before() const {
  std::vector<std::string> all;
  for (const auto* one : {quality_.get(), validation_quality_.get()}) {
    if (const auto why = one != nullptr ? one->why_unranked() : std::nullopt) all.push_back(*why);
  }
  if (is_implicit(item_)) return all;
  auto why = why_indistinct(*data_.facts);
  if (!why) why = why_no_stars_here();
  if (why) all.push_back(*why);
  return all;
}

Json CaseEvaluation::ranking_json() const { return quality_ ? quality_->ranking_json() : Json(); }

}  // namespace mf
