// SVD++ (Koren 2008): the model of SGD with biases, with rows of users p_u + z_u. For a rating of
// item i by user u, with error e,
//
//   z_u = |N(u)|^-1/2 sum over the items j that u rated, N(u), of y_j
//   p_u += rate (e q_i - reg_p p_u)      q_i += rate (e (p_u + z_u) - reg_q q_i)
//   y_j += rate (e |N(u)|^-1/2 q_i - reg_y y_j)      for all j in N(u)
//
// with the old values on the right. P has a row of f floats for each user, Q and Y for each item.
//
// The y_j of a user get the same addend: z_u += rate (e q_i - reg_y z_u), exactly. So while the
// user's n ratings follow each other only z_u moves, from z to z', and then, with s = 1 - rate
// reg_y,
//
//   y_j = s^n y_j + |N(u)|^-1/2 (z' - s^n z)
#pragma once

#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::svdpp {

inline constexpr std::int64_t kMaxFactorsDevice = 512;

struct Step : sgd::Step<float> {
  float shrink_y;  // rate reg_y
};
Step step_of(const Params& params, double rate, double mean);

// Y as the items of a model without users. Its rule is the one of Q, with draws of its own.
Model first_y(const Model& initial);

// Users that may be worked on at once (README.md).
std::int64_t default_workers(const ProblemShape& shape);

// Compulsory work of an epoch (README.md), of users and items with ratings.
Work epoch_work(std::int32_t factors, std::int64_t nnz, std::int64_t users, std::int64_t items);

}  // namespace mf::svdpp
