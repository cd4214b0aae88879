// Minimizes  sum (r - mu - b_u - c_i)^2 + lambda (sum n_u b_u^2 + sum n_i c_i^2)  by turns: with
// the other side fixed,  b_u = sum over the items i of u (r - mu - c_i) / ((1 + lambda) n_u).
#include "algorithms/als/center.hpp"

namespace mf::als {
namespace {

constexpr std::int64_t kRowsPerChunk = 64;

struct BiasSide {
  View<const std::int64_t> offsets;
  View<const std::int32_t> others;
  View<const float> values;
};

double closed_form(const BiasSide& side, std::int64_t row, double mean, double reg,
                   const AlignedVector<float>& other_bias) {
  const std::int64_t begin = side.offsets[row];
  const std::int64_t end = side.offsets[row + 1];
  if (begin == end) return 0;
  double sum = 0;
  for (std::int64_t k = begin; k < end; ++k) {
    sum += side.values[k] - mean - other_bias[side.others[k]];
  }
  return sum / ((1 + reg) * static_cast<double>(end - begin));
}

void solve(const BiasSide& side, double mean, double reg, const AlignedVector<float>& other_bias,
           AlignedVector<float>& bias, ThreadTeam& team) {
  team.for_chunks(std::ssize(bias), kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      bias[row] = static_cast<float>(closed_form(side, row, mean, reg, other_bias));
    }
  });
}

}  // namespace

Center make_center(CenterKind kind, const Ratings& train, const Csc& columns, double reg,
                   ThreadTeam& team) {
  Center center;
  center.kind = kind;
  if (kind == CenterKind::none) return center;
  center.mean = mean_rating(train, team);
  center.user_bias.assign(train.n_users(), 0.0F);
  center.item_bias.assign(train.n_items(), 0.0F);
  if (kind == CenterKind::mean) return center;
  const BiasSide users = {train.user_offsets(), train.items(), train.values()};
  const BiasSide items = {columns.item_offsets, columns.users, columns.values};
  for (int sweep = 0; sweep < kCenterSweeps; ++sweep) {
    solve(items, center.mean, reg, center.user_bias, center.item_bias, team);
    solve(users, center.mean, reg, center.item_bias, center.user_bias, team);
  }
  return center;
}

}  // namespace mf::als
