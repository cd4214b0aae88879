// The meaning of a value in implicit feedback, the same on host and device.
#pragma once

#include <cfloat>
#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "base/host_device.hpp"
#include "base/view.hpp"

namespace mf {

class Ratings;
class ThreadTeam;
struct ImplicitLoss;

// w = alpha r (ImplicitLoss::weight), rounded once.
MF_HD float pair_weight(float value, double alpha) { return static_cast<float>(alpha * value); }

// 0 (not observed), or above it with a weight that is a normal number.
MF_HD bool is_confidence(float value, double alpha) {
  const float weight = pair_weight(value, alpha);
  return value == 0 || (value > 0 && weight >= FLT_MIN && weight <= FLT_MAX);
}

// For all observed pairs; 0 without any.
struct WeightRange {
  float least = 0;
  float most = 0;
};

// How many pairs of `train` are observed. Throws Error(usage) at the first, in the order of the
// ratings, whose value is not a valid confidence.
std::int64_t count_observed(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team);

// c_i of all items, by their numbers of observed pairs: proportional to these to the power
// `exponent` (at least 1 is counted), and 1 on average. X. He, H. Zhang, M.-Y. Kan, T.-S. Chua,
// "Fast Matrix Factorization for Online Recommendation with Implicit Feedback", SIGIR 2016,
// equation 8. Empty for exponent 0: all are 1.
std::vector<double> unobserved_weights(View<const std::int64_t> observed, double exponent);

// The pairs by user, `count` of them, without those of value 0.
struct ObservedRows {
  ObservedRows() = default;
  ObservedRows(const Ratings& train, std::int64_t count);

  AlignedVector<std::int64_t> offsets;
  AlignedVector<std::int32_t> users, items;
  AlignedVector<float> values;
};

// Throws the Error(usage) that names rating k of `train`, whose value is not a valid confidence.
[[noreturn]] void refuse_pair(const Ratings& train, std::int64_t k, const ImplicitLoss& loss);

}  // namespace mf
