#include "datasets/synthetic/synthetic_tastes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mf::synthetic {
namespace {

constexpr std::uint64_t kStream = 16;    // and one more for each partition
constexpr std::int64_t kLeastNiche = 8;  // items
constexpr std::int64_t kFewestFavourites = 2;

}  // namespace

Tastes::Tastes(const TasteLaw& law, std::span<const double> weights, std::uint64_t seed)
    : law_(law) {
  if (!any()) return;
  niche_of_.resize(weights.size());
  for (std::size_t t = 0; t < kPartitions; ++t) {
    partitions_.push_back(make_partition(t, weights, seed));
  }
}

// Niches have the same number of items, to one; which ones is chance.
Tastes::Partition Tastes::make_partition(std::size_t t, std::span<const double> weights,
                                         std::uint64_t seed) {
  const auto n = static_cast<std::int64_t>(weights.size());
  const auto count = std::clamp<std::int64_t>(n / kLeastNiche, 1, law_.niches[t]);
  const std::vector<std::int32_t> order = shuffled(n, Rng(seed, kStream + t));
  std::vector<std::vector<std::int32_t>> members(count);
  for (std::int64_t k = 0; k < n; ++k) {
    niche_of_[order[k]][t] = static_cast<std::int32_t>(k % count);
    members[k % count].push_back(order[k]);
  }
  std::vector<Niche> niches;
  std::vector<double> sums, own;
  for (auto& items : members) {
    own.clear();
    for (const std::int32_t item : items) own.push_back(weights[item]);
    sums.push_back(std::accumulate(own.begin(), own.end(), 0.0));
    niches.push_back({std::move(items), AliasTable(own)});
  }
  return {AliasTable(sums), std::move(niches)};
}

Taste Tastes::draw(std::int64_t items, Rng& rng) const {
  Taste taste;
  taste.count = static_cast<int>(
      std::min<std::int64_t>(kFewestFavourites + items / law_.items_a_favourite, Taste::kMost));
  for (std::size_t t = 0; t < kPartitions; ++t) {
    for (int k = 0; k < taste.count; ++k) {
      taste.niches[t][k] = partitions_[t].by_weight.draw(rng);
    }
  }
  return taste;
}

std::int32_t Tastes::draw_item(const Taste& taste, const AliasTable& all, Rng& rng) const {
  const double which = rng.uniform();
  if (which < law_.global) return all.draw(rng);
  const std::size_t t = rng.below(kPartitions);
  // The first favourite of n has the share n^(-1/2), and so on: the shares fall slowly.
  const double place = rng.uniform();
  const auto k = static_cast<std::size_t>(static_cast<double>(taste.count) * place * place);
  const Niche& niche = partitions_[t].niches[taste.niches[t][k]];
  return niche.items[niche.by_popularity.draw(rng)];
}

}  // namespace mf::synthetic
