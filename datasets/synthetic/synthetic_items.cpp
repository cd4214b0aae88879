#include "datasets/synthetic/synthetic_items.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "datasets/synthetic/portable_math.hpp"
#include "datasets/synthetic/synthetic_degrees.hpp"

namespace mf::synthetic {
namespace {

enum Stream : std::uint64_t { kRanks = 1, kOwed = 2 };

std::vector<std::int32_t> shuffled(std::int64_t n, Rng rng) {
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
  return order;
}

std::vector<double> weights_of(const TailLaw& law, const std::vector<std::int32_t>& ranks) {
  const auto n = static_cast<double>(ranks.size());
  std::vector<double> weights;
  weights.reserve(ranks.size());
  for (const std::int32_t rank : ranks) weights.push_back(weight_at(law, (rank + 0.5) / n));
  return weights;
}

}  // namespace

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

ItemCatalog::ItemCatalog(const Profile& profile, const Shape& shape, std::uint64_t seed)
    : ranks_(shuffled(shape.n_items, Rng(seed, kRanks))),
      weights_(weights_of(profile.popularity, ranks_)),
      owed_order_(shuffled(shape.n_items, Rng(seed, kOwed))),
      alias_(weights_),
      nnz_(shape.nnz) {}

double ItemCatalog::place(std::int32_t item) const {
  return (ranks_[item] + 0.5) / static_cast<double>(size());
}

View<const std::int32_t> ItemCatalog::owed(std::int64_t begin, std::int64_t end) const {
  // The k-th owed item belongs to rating floor(k nnz / n): distinct ratings, as n <= nnz.
  const auto first_from = [&](std::int64_t rating) { return (rating * size() + nnz_ - 1) / nnz_; };
  return View(owed_order_).part(first_from(begin), first_from(end));
}

ItemSampler::ItemSampler(const ItemCatalog& catalog)
    : catalog_(catalog), bitmap_((catalog.size() + 63) / 64, 0) {}

bool ItemSampler::insert(std::int32_t item) {
  std::uint64_t& word = bitmap_[item / 64];
  const std::uint64_t bit = std::uint64_t{1} << (item % 64);
  const bool fresh = (word & bit) == 0;
  word |= bit;
  return fresh;
}

// Weighted draws without replacement in one go (Efraimidis and Spirakis): the smallest of
// exponential variates divided by the weights. The law is that of repeated rejection.
void ItemSampler::insert_by_keys(std::int64_t missing, Rng& rng) {
  keys_.clear();
  for (std::int32_t item = 0; item < catalog_.size(); ++item) {
    if ((bitmap_[item / 64] >> (item % 64) & 1) != 0) continue;
    keys_.emplace_back(-portable::log(1 - rng.uniform()) / catalog_.weights()[item], item);
  }
  const auto end = keys_.begin() + missing;
  if (end != keys_.end()) std::nth_element(keys_.begin(), end, keys_.end());
  std::for_each(keys_.begin(), end, [&](const auto& key) { insert(key.second); });
}

void ItemSampler::take_ascending(View<std::int32_t> out) {
  std::int64_t filled = 0;
  for (std::int64_t w = 0; w < std::ssize(bitmap_) && filled < out.size(); ++w) {
    for (std::uint64_t word = bitmap_[w]; word != 0; word &= word - 1)
      out[filled++] = static_cast<std::int32_t>(w * 64) + std::countr_zero(word);
    bitmap_[w] = 0;
  }
}

void ItemSampler::draw(View<const std::int32_t> owed, Rng& rng, View<std::int32_t> out) {
  std::int64_t count = 0;
  for (const std::int32_t item : owed) count += insert(item) ? 1 : 0;
  // Rejection is fastest until most draws hit items already taken; keys cost a pass over all.
  std::int64_t draws = out.size() + catalog_.size() / 2;
  for (; count < out.size() && draws > 0; --draws)
    count += insert(catalog_.alias().draw(rng)) ? 1 : 0;
  if (count < out.size()) insert_by_keys(out.size() - count, rng);
  take_ascending(out);
}

}  // namespace mf::synthetic
