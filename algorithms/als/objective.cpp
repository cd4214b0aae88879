#include "algorithms/als/objective.hpp"

#include <functional>

namespace mf::als {
namespace {

constexpr std::int64_t kRowsPerChunk = 64;

double dot(const float* a, const float* b, std::int32_t count) {
  double sum = 0;
  for (std::int32_t k = 0; k < count; ++k) sum += static_cast<double>(a[k]) * b[k];
  return sum;
}

// The sum of value(row) over all rows: chunks by free threads, added in order.
double sum_rows(std::int64_t rows, ThreadTeam& team,
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

}  // namespace

double objective(const Side& users, const Side& items, const FactorView& view, RowReg reg,
                 ThreadTeam& team) {
  const std::int32_t f = view.factors;
  const auto of_user = [&](std::int64_t user) {
    const float* x = view.p + user * view.p_stride;
    double sum = reg.of(users.length(user)) * dot(x, x, f);
    for (std::int64_t k = users.offsets[user]; k < users.offsets[user + 1]; ++k) {
      const double error = users.values[k] - dot(x, view.q + users.others[k] * view.q_stride, f);
      sum += error * error;
    }
    return sum;
  };
  const auto of_item = [&](std::int64_t item) {
    const float* theta = view.q + item * view.q_stride;
    return reg.of(items.length(item)) * dot(theta, theta, f);
  };
  return sum_rows(users.rows(), team, of_user) + sum_rows(items.rows(), team, of_item);
}

}  // namespace mf::als
