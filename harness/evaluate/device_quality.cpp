#include "harness/evaluate/device_quality.hpp"

#include <algorithm>

namespace mf {

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
  if (shape.ranking) {
    const double row = 4 * real(shape.n_items);
    const double tile = std::max(row, std::min(real(kScoreBytes), row * real(shape.n_users)));
    const double users = 4 * (f + 1) * real(shape.n_users);  // folded in, or of a tile
    const double items = 4 * (f + 1) * real(shape.n_items);  // with the items' own scores
    bytes += tile + 2 * users + items + 4 * real(shape.train + shape.held_out) +
             48 * real(shape.n_users);
  }
  return bytes;
}

}  // namespace mf
