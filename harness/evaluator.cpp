#include "harness/evaluator.hpp"

namespace mf {
namespace {

// Ratings a partial sum covers; fixed, so that the rounding does not depend on the threads.
constexpr std::int64_t kChunk = 1 << 14;
constexpr std::size_t kLanes = 16;

// Sanitizers cannot run the resolvers of cloned functions.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MF_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define MF_CLONES
#endif

MF_CLONES float dot(const float* a, const float* b, std::size_t n) {
  float lanes[kLanes] = {};
  std::size_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += a[k + l] * b[k + l];
  }
  float sum = 0;
  for (; k < n; ++k) sum += a[k] * b[k];
  for (const float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

Evaluator::Evaluator(const Ratings& train)
    : known_user_(static_cast<std::size_t>(train.n_users())),
      known_item_(static_cast<std::size_t>(train.n_items())),
      train_mean_(mean_rating(train)) {
  for (const auto user : train.users()) known_user_[static_cast<std::size_t>(user)] = 1;
  for (const auto item : train.items()) known_item_[static_cast<std::size_t>(item)] = 1;
}

void Evaluator::set_clip(float clip_min, float clip_max) {
  clip_min_ = clip_min;
  clip_max_ = clip_max;
}

PredictionRule Evaluator::rule(const FactorView& model) const {
  PredictionRule rule;
  rule.biased = model.user_bias != nullptr;
  rule.mean = static_cast<float>(model.mean);
  rule.train_mean = static_cast<float>(train_mean_);
  rule.clip_min = clip_min_;
  rule.clip_max = clip_max_;
  return rule;
}

float Evaluator::predict(const FactorView& model, std::int32_t user, std::int32_t item) const {
  RatingSides sides;
  sides.user_known = known_user_[static_cast<std::size_t>(user)] != 0;
  sides.item_known = known_item_[static_cast<std::size_t>(item)] != 0;
  const PredictionRule how = rule(model);
  if (how.biased) {
    sides.user_bias = model.user_bias[user * model.user_bias_stride];
    sides.item_bias = model.item_bias[item * model.item_bias_stride];
  }
  const bool known = sides.user_known && sides.item_known;
  const float product = known
                            ? dot(model.p + user * model.p_stride, model.q + item * model.q_stride,
                                  static_cast<std::size_t>(model.factors))
                            : 0.0F;
  return predict_rating(how, sides, product);
}

Accuracy Evaluator::evaluate(const FactorView& model, const Ratings& part, ThreadTeam& team) const {
  if (model.location == Location::host) return evaluate_range(model, part, 0, part.nnz(), team);
  if (part.nnz() == 0) return accuracy_of({}, 0);
  if (!device_) device_ = std::make_unique<DeviceEvaluator>(known_user_, known_item_, stream_);
  return device_->evaluate(model, rule(model), part, stream_);
}

Accuracy Evaluator::evaluate_range(const FactorView& model, const Ratings& part, std::int64_t begin,
                                   std::int64_t end, ThreadTeam& team) const {
  const std::int64_t count = end - begin;
  std::vector<LossSums> partial(static_cast<std::size_t>((count + kChunk - 1) / kChunk));
  team.for_chunks(count, kChunk, [&](std::int64_t from, std::int64_t to) {
    LossSums sums;
    for (std::int64_t i = begin + from; i < begin + to; ++i) {
      const Rating rating = part[i];
      add_error(sums, static_cast<double>(rating.value) - predict(model, rating.user, rating.item));
    }
    partial[static_cast<std::size_t>(from / kChunk)] = sums;
  });
  LossSums total;
  for (const LossSums& sums : partial) add_sums(total, sums);
  return accuracy_of(total, count);
}

}  // namespace mf
