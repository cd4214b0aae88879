#include "algorithms/sgd_tiled/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/sgd_tiled/rule.hpp"
#include "base/rng.hpp"

namespace mf::sgd_tiled {

constexpr std::uint64_t kOrderSalt = 0x6f72646572ULL;

Thinning thin_items(View<const std::int64_t> counts, std::int64_t above) {
  Thinning thinning;
  auto& exponents = thinning.exponents;
  exponents.assign(counts.size(), std::uint8_t{0});
  double ratings = 0;
  double writes = 0;
  for (std::int64_t i = 0; i < counts.size(); ++i) {
    if (above > 0) {
      while (counts[i] >> exponents[i] > above && exponents[i] < kMaxExponent) ++exponents[i];
    }
    ratings += static_cast<double>(counts[i]);
    writes += std::ldexp(static_cast<double>(counts[i]), -exponents[i]);
  }
  if (ratings > 0) thinning.writes_made = writes / ratings;
  return thinning;
}

Order epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  if (count <= 1) return {};
  Rng rng(seed ^ kOrderSalt, static_cast<std::uint64_t>(epoch));
  Order order;
  order.shift = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(count)));
  // Far from 1 and from count, so that neighbours do not stay neighbours.
  const auto half = static_cast<std::uint64_t>(count) / 2 + 1;
  order.multiplier = static_cast<std::int64_t>(half / 2 + rng.below(half));
  order.multiplier = std::clamp<std::int64_t>(order.multiplier, 1, count - 1);
  while (std::gcd(order.multiplier, count) != 1) ++order.multiplier;
  return order;
}

}  // namespace mf::sgd_tiled
