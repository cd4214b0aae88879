#include "harness/evaluate/device/device_quality.hpp"

#include <algorithm>

namespace mf {

std::int64_t users_of_tile(std::int64_t n_users, std::int64_t n_items) {
  const std::int64_t fit = kScoreBytes / (4 * std::max<std::int64_t>(1, n_items));
  const std::int64_t whole = fit >= 128 ? fit / 128 * 128 : fit;  // whole tiles of cuBLAS
  return std::clamp<std::int64_t>(whole, 1, std::max<std::int64_t>(1, n_users));
}

namespace {

// All users as ranked ones.
double ranking_bytes(const QualityShape& shape) {
  const auto real = [](std::int64_t x) { return static_cast<double>(x); };
  const double row = 4 * (real(shape.factors) + (shape.objective ? 0 : 1));
  const double tile = real(users_of_tile(shape.n_users, shape.n_items));
  const double scores = tile * (4 * real(shape.n_items) + row);
  const double items = shape.objective ? 0 : row * real(shape.n_items);
  constexpr double kLists = 2 * sizeof(std::int64_t);  // where a user's begin
  // With its row, its weight of biases, its order of equal scores, and whether it has one score.
  constexpr double kUser = kLists + sizeof(Hits) + 4 + 4 + sizeof(TieKey) + 1;
  return scores + items + row * real(shape.folded_users) + 4 * real(shape.train + shape.held_out) +
         kUser * real(shape.n_users);
}

}  // namespace

double device_quality_bytes(const QualityShape& shape) {
  const auto real = [](std::int64_t x) { return static_cast<double>(x); };
  const double f = real(shape.factors);
  double bytes = 0;
  if (shape.objective) {
    constexpr double kTriple = 12;
    constexpr double kSums = 2 << 20;
    bytes += kTriple * real(shape.train) + 8 * real(shape.n_users + shape.n_items) + kSums +
             8 * (2 * f * f + real(kGramBlock) * f);
  }
  if (shape.ranking) bytes += (shape.ranks_validation ? 2 : 1) * ranking_bytes(shape);
  return bytes;
}

}  // namespace mf
