#include "algorithms/core/observed.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "algorithms/core/implicit.hpp"
#include "base/error.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

namespace {
constexpr std::int64_t kRatingsPerChunk = 1 << 16;
}

std::vector<double> unobserved_weights(View<const std::int64_t> observed, double exponent) {
  std::vector<double> weights;
  if (exponent == 0) return weights;
  double sum = 0;
  for (const std::int64_t pairs : observed) {
    weights.push_back(std::pow(static_cast<double>(std::max<std::int64_t>(pairs, 1)), exponent));
    sum += weights.back();
  }
  for (double& weight : weights) weight *= static_cast<double>(observed.size()) / sum;
  return weights;
}

std::int64_t count_observed(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team) {
  std::atomic<std::int64_t> observed{0};
  std::atomic<std::int64_t> first_bad{train.nnz()};
  team.for_chunks(train.nnz(), kRatingsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t own = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      const float value = train.values()[k];
      if (!is_confidence(value, loss.alpha)) {
        std::int64_t known = first_bad;
        while (k < known && !first_bad.compare_exchange_weak(known, k)) {
        }
        break;
      }
      own += value == 0 ? 0 : 1;
    }
    observed += own;
  });
  if (first_bad < train.nnz()) refuse_pair(train, first_bad, loss);
  return observed;
}

ObservedRows::ObservedRows(const Ratings& train, std::int64_t count)
    : offsets(train.n_users() + 1, 0), users(count), items(count), values(count) {
  std::int64_t to = 0;
  for (std::int32_t user = 0; user < train.n_users(); ++user) {
    for (std::int64_t k = train.user_offsets()[user]; k < train.user_offsets()[user + 1]; ++k) {
      if (train.values()[k] == 0) continue;
      users[to] = user;
      items[to] = train.items()[k];
      values[to++] = train.values()[k];
    }
    offsets[user + 1] = to;
  }
}

void refuse_pair(const Ratings& train, std::int64_t k, const ImplicitLoss& loss) {
  const Rating pair = train[k];
  const std::string user = train.user_text(pair.user);
  const std::string item = train.item_text(pair.item);
  if (std::isfinite(pair.value) && pair.value >= 0) {
    fail(ErrorKind::usage,
         "the value of user {} and item {} is {}; alpha {} times it is no normal number of fp32; "
         "scale the values, or change alpha",
         user, item, pair.value, loss.alpha);
  }
  fail(ErrorKind::usage,
       "the value of user {} and item {} is {}; implicit feedback takes finite values of 0 (not "
       "observed) and above",
       user, item, pair.value);
}

}  // namespace mf
