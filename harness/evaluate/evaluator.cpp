#include "harness/evaluate/evaluator.hpp"

#include <vector>

#include "datasets/ratings/rank_blocks.hpp"

namespace mf {
namespace {

// For the blocks of the ratings [begin, end).
template <class Guess>
std::vector<LossSums> sums_of_blocks(const Ratings& part, std::int64_t begin, std::int64_t end,
                                     ThreadTeam& team, const Guess& guess) {
  const std::int64_t count = end - begin;
  std::vector<LossSums> partial((count + kErrorBlock - 1) / kErrorBlock);
  team.for_chunks(count, kErrorBlock, [&](std::int64_t from, std::int64_t to) {
    LossSums sums;
    for (std::int64_t i = begin + from; i < begin + to; ++i) {
      const Rating rating = part[i];
      add_error(sums, static_cast<double>(rating.value) - guess(rating, i));
    }
    partial[from / kErrorBlock] = sums;
  });
  return partial;
}

Accuracy accuracy_of_blocks(const std::vector<LossSums>& blocks, std::int64_t count) {
  LossSums total;
  for (const LossSums& sums : blocks) add_sums(total, sums);
  return accuracy_of(total, count);
}

// Over the ratings [begin, end) of the part.
template <class Guess>
Accuracy accuracy(const Ratings& part, std::int64_t begin, std::int64_t end, ThreadTeam& team,
                  const Guess& guess) {
  return accuracy_of_blocks(sums_of_blocks(part, begin, end, team, guess), end - begin);
}

template <class Guess>
Accuracy accuracy(const SharedPart& part, ThreadTeam& team, const Guess& guess) {
  const auto own = sums_of_blocks(part.own, 0, part.own.nnz(), team, guess);
  return accuracy_of_blocks(sums_of_all(own, part.parts, kErrorBlock, part.ranks),
                            part.parts.back());
}

}  // namespace

Accuracy Evaluator::evaluate(const FactorView& model, const Ratings& part, ThreadTeam& team) const {
  if (model.location == Location::host) {
    if (model.draw > 0) take_draw(model, part, team);
    return evaluate_range(model, part, 0, part.nnz(), team);
  }
  if (part.nnz() == 0) return accuracy_of({}, 0);
  if (!device_) {
    device_ = std::make_unique<DeviceEvaluator>(predictor_.known_user(), predictor_.known_item(),
                                                stream_);
  }
  return device_->evaluate(model, rule(model), part, stream_);
}

Accuracy Evaluator::evaluate_range(const FactorView& model, const Ratings& part, std::int64_t begin,
                                   std::int64_t end, ThreadTeam& team) const {
  const PredictionRule how = rule(model);
  if (const DrawMean* draws = find_mean(part)) {
    return accuracy(part, begin, end, team, [&](const Rating&, std::int64_t i) {
      return clip_rating(how, draws->mean[i]);
    });
  }
  return accuracy(part, begin, end, team, [&](const Rating& rating, std::int64_t) {
    return predictor_.predict(how, model, rating.user, rating.item);
  });
}

void Evaluator::take_draw(const FactorView& model, const Ratings& part, ThreadTeam& team) const {
  DrawMean* draws = find_mean(part);
  if (draws == nullptr) {
    draws = &means_.emplace_back();
    draws->part = part.values().data();
    draws->mean.assign(part.nnz(), 0.0F);
  }
  if (draws->last == model.draw) return;
  draws->last = model.draw;
  const float share = 1 / static_cast<float>(++draws->taken);
  PredictionRule how = rule(model);
  how.clip_max = how.clip_min;
  team.for_chunks(part.nnz(), kErrorBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Rating rating = part[i];
      const float score = predictor_.predict(how, model, rating.user, rating.item);
      draws->mean[i] = add_draw(draws->mean[i], share, score);
    }
  });
}

// Predictions in device memory are fetched on first request, which is after the last draw.
Evaluator::DrawMean* Evaluator::find_mean(const Ratings& part) const {
  for (DrawMean& known : means_) {
    if (known.part == part.values().data() && std::ssize(known.mean) == part.nnz()) return &known;
  }
  AlignedVector<float> mean =
      device_ ? device_->mean_of_draws(part, stream_) : AlignedVector<float>();
  if (mean.empty()) return nullptr;
  return &means_.emplace_back(DrawMean{part.values().data(), 0, 0, std::move(mean)});
}

Accuracy Evaluator::evaluate(const FactorView& model, const SharedPart& part,
                             ThreadTeam& team) const {
  const PredictionRule how = rule(model);
  return accuracy(part, team, [&](const Rating& rating, std::int64_t) {
    return predictor_.predict(how, model, rating.user, rating.item);
  });
}

Accuracy Evaluator::evaluate_mean(const SharedPart& part, ThreadTeam& team) const {
  const double mean = predictor_.train_mean();
  return accuracy(part, team, [mean](const Rating&, std::int64_t) { return mean; });
}

Accuracy Evaluator::evaluate_mean(const Ratings& part, ThreadTeam& team) const {
  const double mean = predictor_.train_mean();
  return accuracy(part, 0, part.nnz(), team, [mean](const Rating&, std::int64_t) { return mean; });
}

}  // namespace mf
