#include "harness/evaluate/evaluator.hpp"

#include <vector>

namespace mf {
namespace {

// Ratings a partial sum covers; fixed, so that the rounding does not depend on the threads.
constexpr std::int64_t kChunk = 1 << 14;

// Over the ratings [begin, end) of the part.
template <class Guess>
Accuracy accuracy(const Ratings& part, std::int64_t begin, std::int64_t end, ThreadTeam& team,
                  const Guess& guess) {
  const std::int64_t count = end - begin;
  std::vector<LossSums> partial((count + kChunk - 1) / kChunk);
  team.for_chunks(count, kChunk, [&](std::int64_t from, std::int64_t to) {
    LossSums sums;
    for (std::int64_t i = begin + from; i < begin + to; ++i) {
      const Rating rating = part[i];
      add_error(sums, static_cast<double>(rating.value) - guess(rating));
    }
    partial[from / kChunk] = sums;
  });
  LossSums total;
  for (const LossSums& sums : partial) add_sums(total, sums);
  return accuracy_of(total, count);
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

Accuracy Evaluator::evaluate_mean(const Ratings& part, ThreadTeam& team) const {
  const double mean = predictor_.train_mean();
  return accuracy(part, 0, part.nnz(), team, [mean](const Rating&) { return mean; });
}

}  // namespace mf
