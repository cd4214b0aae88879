// Minimizes  sum (r - mu - b_u - c_i)^2 + lambda (sum n_u^e b_u^2 + sum n_i^e c_i^2)  by turns:
// with the other side fixed,  b_u = sum over the items i of u (r - mu - c_i) / (n_u + lambda
// n_u^e).
#include "algorithms/als/center.hpp"

#include "algorithms/als/sides.hpp"

namespace mf::als {
namespace {

constexpr std::int64_t kRowsPerChunk = 64;

double closed_form(const Side& side, std::int64_t row, double mean, RowReg reg,
                   const AlignedVector<float>& other_bias) {
  const std::int64_t begin = side.offsets[row];
  const std::int64_t end = side.offsets[row + 1];
  if (begin == end) return 0;
  double sum = 0;
  for (std::int64_t k = begin; k < end; ++k) {
    sum += side.values[k] - mean - other_bias[side.others[k]];
  }
  return sum / reg.with_count(end - begin);
}

}  // namespace

void solve_biases(const Side& side, double mean, RowReg reg, const AlignedVector<float>& other_bias,
                  AlignedVector<float>& bias, ThreadTeam& team) {
  team.for_each(std::ssize(bias), kRowsPerChunk, [&](std::int64_t row) {
    bias[row] = static_cast<float>(closed_form(side, row, mean, reg, other_bias));
  });
}

Center make_center(CenterKind kind, const Ratings& train, const Csc& columns, RowReg reg,
                   ThreadTeam& team) {
  const Side users = {train.user_offsets(), train.items(), train.values()};
  const Side items = {columns.item_offsets, columns.users, columns.values};
  const double mean = kind == CenterKind::none ? 0 : mean_rating(train, team);
  return make_center(kind, mean, users, items, reg, team, nullptr, {});
}

Center make_center(CenterKind kind, double mean, const Side& users, const Side& items, RowReg reg,
                   ThreadTeam& team, Communicator* ranks, const RankCuts& cuts) {
  Center center;
  center.kind = kind;
  if (kind == CenterKind::none) return center;
  center.mean = mean;
  center.user_bias.assign(users.rows(), 0.0F);
  center.item_bias.assign(items.rows(), 0.0F);
  if (kind == CenterKind::mean) return center;
  const auto gather = [&](AlignedVector<float>& bias, const RowCuts& own) {
    if (ranks != nullptr) ranks->all_gather(std::span<float>(bias), own);
  };
  for (int sweep = 0; sweep < kCenterSweeps; ++sweep) {
    solve_biases(items, center.mean, reg, center.user_bias, center.item_bias, team);
    gather(center.item_bias, cuts.items);
    solve_biases(users, center.mean, reg, center.item_bias, center.user_bias, team);
    gather(center.user_bias, cuts.users);
  }
  return center;
}

}  // namespace mf::als
