// Objective (1) of ALS with weighted lambda, in double precision:
//   sum over ratings (r - x_u . theta_v)^2 + sum l_u |x_u|^2 + sum l_v |theta_v|^2, l = lambda
//   n^power of a row with n ratings
#pragma once

#include <functional>

#include "algorithms/als/sides.hpp"
#include "algorithms/core/model.hpp"

namespace mf::als {
namespace objective_parts {

constexpr std::int64_t kRowsPerChunk = 64;

inline double dot(const float* a, const float* b, std::int32_t count) {
  double sum = 0;
  for (std::int32_t k = 0; k < count; ++k) sum += static_cast<double>(a[k]) * b[k];
  return sum;
}

// The sum of value(row) over all rows: chunks by free threads, added in order.
inline double sum_rows(std::int64_t rows, ThreadTeam& team,
                       const std::function<double(std::int64_t)>& value) {
  AlignedVector<double> sums((rows + kRowsPerChunk - 1) / kRowsPerChunk);
  team.for_chunks(rows, kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t row = begin; row < end; ++row) sum += value(row);
    sums[begin / kRowsPerChunk] = sum;
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace objective_parts

// `users` and `items` are the two sides of one matrix, their center removed; of `view`, which is on
// the host, only P and Q are looked at. The same for any number of threads.
inline double objective(const Side& users, const Side& items, const FactorView& view, RowReg reg,
                        ThreadTeam& team) {
  const std::int32_t f = view.factors;
  const auto of_user = [&](std::int64_t user) {
    const float* x = view.p + user * view.p_stride;
    double sum = reg.of(users.length(user)) * objective_parts::dot(x, x, f);
    for (std::int64_t k = users.offsets[user]; k < users.offsets[user + 1]; ++k) {
      const double error =
          users.values[k] - objective_parts::dot(x, view.q + users.others[k] * view.q_stride, f);
      sum += error * error;
    }
    return sum;
  };
  const auto of_item = [&](std::int64_t item) {
    const float* theta = view.q + item * view.q_stride;
    return reg.of(items.length(item)) * objective_parts::dot(theta, theta, f);
  };
  return objective_parts::sum_rows(users.rows(), team, of_user) +
         objective_parts::sum_rows(items.rows(), team, of_item);
}

}  // namespace mf::als
