#include "datasets/synthetic/alias_table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mf::synthetic {

AliasTable::AliasTable(std::span<const double> weights) : entries_(weights.size()) {
  const std::size_t n = weights.size();
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> share(n);  // 1 on average
  std::vector<std::size_t> small, large;
  for (std::size_t i = 0; i < n; ++i) {
    share[i] = weights[i] / total * static_cast<double>(n);
    (share[i] < 1 ? small : large).push_back(i);
  }
  const auto set = [&](std::size_t i, double keep, std::size_t alias) {
    const double threshold = std::min(keep * 0x1.0p32, 4294967295.0);
    entries_[i] = {static_cast<std::uint32_t>(threshold), static_cast<std::int32_t>(alias)};
  };
  while (!small.empty() && !large.empty()) {
    const std::size_t poor = small.back(), rich = large.back();
    small.pop_back();
    set(poor, share[poor], rich);
    share[rich] -= 1 - share[poor];
    if (share[rich] >= 1) continue;
    large.pop_back();
    small.push_back(rich);
  }
  for (const auto& rest : {small, large}) {
    for (const std::size_t i : rest) set(i, 1, i);
  }
}

std::vector<std::int32_t> shuffled(std::int64_t n, Rng rng) {
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, rng);
  return order;
}

void shuffle(std::span<std::int32_t> order, Rng& rng) {
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
}

AlignedVector<std::int32_t> one_to(std::int64_t n) {
  AlignedVector<std::int32_t> ids(n);
  std::iota(ids.begin(), ids.end(), 1);
  return ids;
}

}  // namespace mf::synthetic
