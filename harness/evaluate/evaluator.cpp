#include "harness/evaluate/evaluator.hpp"

#include <vector>

#include "datasets/ratings/rank_blocks.hpp"

namespace mf {
namespace {

// Of the blocks of the ratings [begin, end).
template <class Guess>
std::vector<LossSums> sums_of_blocks(const Ratings& part, std::int64_t begin, std::int64_t end,
                                     ThreadTeam& team, const Guess& guess) {
  const std::int64_t count = end - begin;
  std::vector<LossSums> partial((count + kErrorBlock - 1) / kErrorBlock);
  team.for_chunks(count, kErrorBlock, [&](std::int64_t from, std::int64_t to) {
    LossSums sums;
    for (std::int64_t i = begin + from; i < begin + to; ++i) {
      const Rating rating = part[i];
      add_error(sums, static_cast<double>(rating.value) - guess(rating));
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
  if (model.location == Location::host) return evaluate_range(model, part, 0, part.nnz(), team);
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
  return accuracy(part, begin, end, team, [&](const Rating& rating) {
    return predictor_.predict(how, model, rating.user, rating.item);
  });
}

Accuracy Evaluator::evaluate(const FactorView& model, const SharedPart& part,
                             ThreadTeam& team) const {
  const PredictionRule how = rule(model);
  return accuracy(part, team, [&](const Rating& rating) {
    return predictor_.predict(how, model, rating.user, rating.item);
  });
}

Accuracy Evaluator::evaluate_mean(const SharedPart& part, ThreadTeam& team) const {
  const double mean = predictor_.train_mean();
  return accuracy(part, team, [mean](const Rating&) { return mean; });
}

Accuracy Evaluator::evaluate_mean(const Ratings& part, ThreadTeam& team) const {
  const double mean = predictor_.train_mean();
  return accuracy(part, 0, part.nnz(), team, [mean](const Rating&) { return mean; });
}

}  // namespace mf
