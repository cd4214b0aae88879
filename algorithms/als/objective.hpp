// Objective (1) of ALS with weighted lambda, in double precision:
//   sum over ratings (r - x_u . theta_v)^2 + sum l_u |x_u|^2 + sum l_v |theta_v|^2, l = lambda
//   n^power of a row with n ratings
#pragma once

#include "algorithms/als/sides.hpp"
#include "algorithms/core/model.hpp"

namespace mf::als {

// `users` and `items` are the two sides of one matrix, their center removed; of `view`, which is on
// the host, only P and Q are looked at. The same for any number of threads.
double objective(const Side& users, const Side& items, const FactorView& view, RowReg reg,
                 ThreadTeam& team);

}  // namespace mf::als
