// ALS first removes a center from the ratings: r - mu - b_u - c_i is factorised as x_u . theta_i.
#pragma once

#include <cstdint>

#include "algorithms/als/settings.hpp"
#include "algorithms/als/side.hpp"
#include "algorithms/core/model.hpp"
#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {
class Communicator;
}

namespace mf::als {

struct RankCuts;  // sides.hpp

// none: mean 0, no biases (empty arrays): the plain model.
// mean: mu, and all biases zero. biases: mu and biases, which then stay fixed. solved: the same
// numbers, but only mu is removed, and the solved biases start from these biases.
struct Center {
  CenterKind kind = CenterKind::none;
  double mean = 0;
  AlignedVector<float> user_bias;  // n_users, or empty
  AlignedVector<float> item_bias;  // n_items, or empty

  float residual(std::int32_t user, std::int32_t item, float value) const {
    if (kind == CenterKind::none) return value;
    const float centered = value - static_cast<float>(mean);
    return kind == CenterKind::solved ? centered : centered - user_bias[user] - item_bias[item];
  }
};

// How often both sides of the biases are solved for by turns: each sweep shrinks the error by about
// the share of ratings in common.
inline constexpr int kCenterSweeps = 10;

// The biases of a side's rows with the other side's fixed, in closed form; 0 of a row without
// ratings. `reg` is lambda n^power for a row of n ratings. The same for any number of threads.
void solve_biases(const Side& side, double mean, RowReg reg, const AlignedVector<float>& other_bias,
                  AlignedVector<float>& bias, ThreadTeam& team);

// Biases are solved for by turns. `columns` is of `train`.
Center make_center(CenterKind kind, const Ratings& train, const Csc& columns, RowReg reg,
                   ThreadTeam& team);

// The same if `users` and `items` hold only this rank's rows, as these cuts say; `mean` is over all
// ranks. No ranks: the rows are all.
Center make_center(CenterKind kind, double mean, const Side& users, const Side& items, RowReg reg,
                   ThreadTeam& team, Communicator* ranks, const RankCuts& cuts);

// For the model that factors of the residuals make with the center.
inline ModelShape with_center(ModelShape shape, const Center& center) {
  if (center.kind == CenterKind::none) return shape;
  shape.kind = ModelKind::biased;
  shape.mean = center.mean;
  return shape;
}

}  // namespace mf::als
