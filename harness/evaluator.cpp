#include "harness/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

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

struct Sums {
  double square = 0;
  double absolute = 0;
};

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

float Evaluator::predict(const FactorView& model, std::int32_t user, std::int32_t item) const {
  const bool user_known = known_user_[static_cast<std::size_t>(user)] != 0;
  const bool item_known = known_item_[static_cast<std::size_t>(item)] != 0;
  const bool biased = model.user_bias != nullptr;
  float value = static_cast<float>(biased ? model.mean : 0.0);
  if (biased && user_known) value += model.user_bias[user * model.user_bias_stride];
  if (biased && item_known) value += model.item_bias[item * model.item_bias_stride];
  if (user_known && item_known) {
    value += dot(model.p + user * model.p_stride, model.q + item * model.q_stride,
                 static_cast<std::size_t>(model.factors));
  } else if (!biased) {
    value = static_cast<float>(train_mean_);
  }
  return clip_min_ < clip_max_ ? std::clamp(value, clip_min_, clip_max_) : value;
}

Accuracy Evaluator::evaluate(const FactorView& model, const Ratings& part, ThreadTeam& team) const {
  if (model.location != Location::host) {
    fail(ErrorKind::unsupported, "the factors are on the device, this evaluator works on the host");
  }
  const std::int64_t count = part.nnz();
  if (count == 0) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, 0};
  }
  std::vector<Sums> partial(static_cast<std::size_t>((count + kChunk - 1) / kChunk));
  team.for_chunks(count, kChunk, [&](std::int64_t begin, std::int64_t end) {
    Sums sums;
    for (std::int64_t i = begin; i < end; ++i) {
      const Rating rating = part[i];
      const double error =
          static_cast<double>(rating.value) - predict(model, rating.user, rating.item);
      sums.square += error * error;
      sums.absolute += std::abs(error);
    }
    partial[static_cast<std::size_t>(begin / kChunk)] = sums;
  });
  Sums total;
  for (const Sums& sums : partial) {
    total.square += sums.square;
    total.absolute += sums.absolute;
  }
  const auto n = static_cast<double>(count);
  return {std::sqrt(total.square / n), total.absolute / n, count};
}

}  // namespace mf
