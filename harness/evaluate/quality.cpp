#include "harness/evaluate/quality.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "algorithms/core/history_scores.hpp"
#include "base/json/json.hpp"
#include "harness/device/download_model.hpp"

namespace mf {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool has_history(const Ratings& part, std::int32_t user) {
  if (part.nnz() == 0) return false;
  return part.user_offsets()[user + 1] > part.user_offsets()[user];
}

// The user's observed items: in training, or, if held out whole, in fold_in.
std::vector<RowRating> observed(const Split& split, std::int32_t user) {
  const Ratings& part = has_history(split.fold_in, user) ? split.fold_in : split.train;
  std::vector<RowRating> history;
  for (auto k = part.user_offsets()[user]; k < part.user_offsets()[user + 1]; ++k) {
    if (part.values()[k] > 0) history.push_back({part.items()[k], part.values()[k]});
  }
  return history;
}

bool is_on_test(const RankingSpec& ranking) {
  return ranking.metrics.empty() || ranking.metrics.front()->part == MetricPart::test;
}

// The weight of an item's own score for a user: in a biased model 1 for all, since a cold user's
// items differ by their biases.
float weight_of_item(const FactorView& model, float extra) {
  return model.item_bias != nullptr ? 1.0F : extra;
}

// The items of a view, without its users.
FactorView items_of(FactorView view) {
  view.n_users = 0;
  return view;
}

}  // namespace

QualityEvaluator::QualityEvaluator(const Split& split, const Predictor& known,
                                   const FoldInLoss& loss,
                                   const std::optional<RankingSpec>& ranking, ThreadTeam& team,
                                   bool trial)
    : split_(&split), loss_(loss), ranking_(ranking), known_(known) {
  const bool on_test = !ranking_ || is_on_test(*ranking_);
  if (loss_.implicit && loss_.has_objective && on_test)
    objective_.emplace(split.train, *loss_.implicit, team);
  if (!ranking_) return;
  const Ratings& judged = on_test ? split.test : split.validation;
  validation_seen_ = on_test && !trial && split.validation.nnz() > 0;
  ranked_ = choose_ranked_users(split.train, &split.fold_in, judged, *ranking_, loss_.of_pairs(),
                                team, validation_seen_ ? &split.validation : nullptr);
  for (std::int64_t r = 0; r < ranked_.count(); ++r) cold_ += ranked_.is_cold(r) ? 1 : 0;
  choose_rows();
}

void QualityEvaluator::choose_rows() {
  const bool implicit = loss_.of_pairs();
  for (const auto user : ranked_.users) {
    const bool known = implicit || known_.known_user()[user] != 0;
    std::int32_t row = known ? user : RankedRow::kNone;
    if (has_history(split_->fold_in, user)) {
      row = RankedRow::folded(static_cast<std::int32_t>(folded_.size()));
      folded_.push_back(user);
    }
    rows_.push_back(row);
    // A plain model predicts the mean of training for all items of a cold user.
    if (!implicit) extra_.push_back(row == RankedRow::kNone ? 0.0F : 1.0F);
  }
}

MetricValues QualityEvaluator::evaluate(const FactorView& model, ThreadTeam& team) {
  MetricValues values;
  const bool beside = objective_ && model.location == Location::device;
  if (objective_ && !beside) values.set(kObjective, objective_->evaluate(model, team));
  if (beside) {
    if (!device_objective_) {
      device_objective_ = std::make_unique<DeviceObjective>(*objective_, stream_);
    }
    device_objective_->begin(model, stream_);
  }
  if (ranking_) evaluate_ranking(model, team, values);
  if (beside) values.set(kObjective, device_objective_->finish());
  return values;
}

void QualityEvaluator::evaluate_ranking(const FactorView& model, ThreadTeam& team,
                                        MetricValues& values) {
  const RankedItems ranked = rank(model, team);
  const auto means = mean_ranking(ranked.hits, ranked_, false, ranking_->metrics, team);
  for (std::size_t i = 0; i < means.size(); ++i) {
    values.set(ranking_->metrics[i], ranked.finite ? means[i] : kNaN);
  }
  note(ranked, team);
}

void QualityEvaluator::note(const RankedItems& ranked, ThreadTeam& team) {
  notes_ = {};
  if (!ranked.finite) return;
  notes_.tied = std::count(ranked.tied.begin(), ranked.tied.end(), 1);
  if (cold_ == 0) return;
  const auto means = mean_ranking(ranked.hits, ranked_, true, ranking_->metrics, team);
  for (std::size_t i = 0; i < means.size(); ++i) notes_.cold.set(ranking_->metrics[i], means[i]);
}

std::optional<std::string> QualityEvaluator::why_unranked() const {
  if (!ranking_ || ranked_.count() > cold_) return std::nullopt;
  const char* part = is_on_test(*ranking_) ? "test" : "validation";
  const std::string whom =
      cold_ == 0
          ? fmt::format("no user has an item to be found in the {} part", part)
          : fmt::format("no user of the {} with items in the {} part has a history in training",
                        cold_, part);
  return fmt::format(
      "{}: there are no ranking metrics, and rules that stop by one never do; take the split "
      "\"leave_out\", or \"users\" with a \"fold_in\", which leave every user a history",
      whom);
}

std::optional<std::string> QualityEvaluator::why_tied() const {
  if (!ranking_ || why_unranked() || 2 * notes_.tied <= ranked_.count()) return std::nullopt;
  return fmt::format(
      "{} of {} users have one score for all of their first {} items: their order is drawn, and "
      "ranking metrics say how good chance is",
      notes_.tied, ranked_.count(), kRanks);
}

std::optional<double> QualityEvaluator::zero_objective(ThreadTeam& team) const {
  return objective_ ? std::optional(objective_->of_zeros(team)) : std::nullopt;
}

RankedItems QualityEvaluator::rank(const FactorView& model, ThreadTeam& team) {
  if (model.scores != nullptr) return rank_by_history(model, team);
  if (model.location == Location::host) return rank_on_host(model, fold_in(model, team), team);
  Model copy;
  FactorView host_items;
  if (needs_host_items()) {
    copy = download_model(items_of(model), stream_);
    host_items = copy.view();
  }
  return rank_on_device(model, host_items, fold_in(host_items, team));
}

AlignedVector<float> QualityEvaluator::fold_in(const FactorView& model, ThreadTeam& team) const {
  if (folded_.empty()) return {};
  return FoldIn(model, loss_, team).solve(split_->fold_in, folded_, team);
}

// Items of explicit models: their factors, and beside them the item's own term. A cold item has
// only that: nothing beyond the biases of a biased model, the mean of training of a plain one.
AlignedVector<float> QualityEvaluator::item_rows(const FactorView& model) const {
  const PredictionRule rule = known_.rule(model);
  const std::int64_t f = model.factors;
  AlignedVector<float> rows(model.n_items * (f + 1), 0.0F);
  for (std::int64_t i = 0; i < model.n_items; ++i) {
    float* row = rows.data() + i * (f + 1);
    if (known_.known_item()[i] == 0) {
      row[f] = rule.biased ? 0.0F : rule.train_mean;
      continue;
    }
    std::copy_n(model.q + i * model.q_stride, f, row);
    if (rule.biased) row[f] = model.item_bias[i * model.item_bias_stride];
  }
  return rows;
}

RankedItems QualityEvaluator::rank_by_history(const FactorView& model, ThreadTeam& team) {
  if (const float* weights = model.scores->device_weights()) {
    ItemLists histories;
    for (const auto user : ranked_.users) {
      for (const auto& pair : observed(*split_, user)) histories.items.push_back(pair.other);
      histories.offsets.push_back(std::ssize(histories.items));
    }
    return device_ranking({}).rank(weights, model.n_items, histories, stream_);
  }
  const auto score = [&](std::int64_t r, View<float> scores) {
    const auto history = observed(*split_, ranked_.users[r]);
    model.scores->score(View<const RowRating>(history), scores);
  };
  return rank_scores(score, model.n_items, ranked_, team);
}

RankedItems QualityEvaluator::rank_on_host(const FactorView& model, View<const float> folded,
                                           ThreadTeam& team) const {
  const std::int64_t f = model.factors;
  const AlignedVector<float> zeros(f, 0.0F);
  std::vector<const float*> users;
  for (const auto row : rows_) {
    if (row == RankedRow::kNone) {
      users.push_back(zeros.data());
    } else {
      users.push_back(row >= 0 ? model.p + row * model.p_stride
                               : folded.data() + RankedRow::slot_of(row) * f);
    }
  }
  if (loss_.implicit) {
    return rank_items({users, model.q, model.q_stride, model.n_items, model.factors}, ranked_,
                      team);
  }
  const AlignedVector<float> items = item_rows(model);
  AlignedVector<float> rows(std::ssize(users) * (f + 1));
  team.for_chunks(std::ssize(users), 256, [&](std::int64_t begin, std::int64_t end) {
    for (auto u = begin; u < end; ++u) {
      float* row = rows.data() + u * (f + 1);
      std::copy_n(users[u], f, row);
      row[f] = weight_of_item(model, extra_[u]);
      users[u] = row;
    }
  });
  return rank_items({users, items.data(), f + 1, model.n_items, model.factors + 1}, ranked_, team);
}

DeviceRanking& QualityEvaluator::device_ranking(View<const float> extra) {
  if (!device_ranking_) {
    device_ranking_ = std::make_unique<DeviceRanking>(ranked_, rows_, extra, stream_);
  }
  return *device_ranking_;
}

RankedItems QualityEvaluator::rank_on_device(const FactorView& model, const FactorView& host_items,
                                             View<const float> folded) {
  std::vector<float> extra = extra_;
  for (float& one : extra) one = weight_of_item(model, one);
  const AlignedVector<float> items =
      loss_.implicit ? AlignedVector<float>() : item_rows(host_items);
  return device_ranking(extra).rank({model, folded, items}, stream_);
}

Json QualityEvaluator::ranking_json() const {
  if (!ranking_) return nullptr;
  Json metrics = Json::array();
  for (const Metric one : ranking_->metrics) metrics.push_back(one.key());
  return {{"users", ranked_.count()},
          {"users_without_history", cold_},
          {"users_with_held_out", ranked_.eligible},
          {"folded_in_users", folded_.size()},
          {"sample_seed", ranking_->users == 0 ? Json() : Json(ranking_->seed)},
          {"metrics", metrics},
          {"seen", validation_seen_ ? "train + validation" : "train"},
          {"ties", "by a hash of seed, user and item"},
          {"tie_seed", ranking_->seed}};
}

}  // namespace mf
