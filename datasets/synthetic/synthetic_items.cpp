#include "datasets/synthetic/synthetic_items.hpp"
#include "base/portable_math.hpp"

#include <algorithm>
#include <bit>

#include "datasets/synthetic/synthetic_degrees.hpp"

namespace mf::synthetic {
namespace {

enum Stream : std::uint64_t { kRanks = 1, kOwed = 2 };
constexpr double kLeastPower = 1;
constexpr std::int64_t kChoices = 4;     // items met for one that is taken, about
constexpr std::int64_t kTasteDraws = 4;  // an item: a user may have all of a niche

// The law of a smaller set of implicit feedback. The number of items that share most of the
// popularity, n E[w]^2 / E[w^2], halves with each unit of the power; it is to stay, or everyone
// would have the same few and ranking by popularity would be all there is to find.
TailLaw popularity_of(const Profile& profile, const Shape& shape) {
  TailLaw law = profile.popularity;
  if (profile.values == Values::ratings || shape.n_items >= profile.shape.n_items) return law;
  const double halvings = portable::log(static_cast<double>(profile.shape.n_items) /
                                        static_cast<double>(shape.n_items)) /
                          portable::log(2.0);
  law.power = std::max(law.power - halvings, std::min(law.power, kLeastPower));
  return law;
}

std::vector<double> weights_of(const TailLaw& law, const std::vector<std::int32_t>& ranks) {
  const auto n = static_cast<double>(ranks.size());
  std::vector<double> weights;
  weights.reserve(ranks.size());
  for (const std::int32_t rank : ranks) weights.push_back(weight_at(law, (rank + 0.5) / n));
  return weights;
}

}  // namespace

ItemCatalog::ItemCatalog(const Profile& profile, const Shape& shape, std::uint64_t seed)
    : ranks_(shuffled(shape.n_items, Rng(seed, kRanks))),
      weights_(weights_of(popularity_of(profile, shape), ranks_)),
      owed_order_(shuffled(shape.n_items, Rng(seed, kOwed))),
      alias_(weights_),
      tastes_(profile.tastes, weights_, seed),
      choosy_(profile.model.reserve > 1),
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
// exponential variates divided by the weights. The law equals repeated rejection's. A chance is at
// most 1, and -log(1 - u) at least u: of most items neither need be known, as the key is too large
// already.
void ItemSampler::insert_by_keys(std::int64_t missing, const Chance& chance, Rng& rng) {
  keys_.clear();
  for (std::int32_t item = 0; item < catalog_.size(); ++item) {
    if ((bitmap_[item / 64] >> (item % 64) & 1) != 0) continue;
    const double u = rng.uniform();
    const double weight = catalog_.weights()[item];
    const bool full = std::ssize(keys_) == missing;
    if (full && u / weight > keys_.front().first) continue;
    keys_.emplace_back(-portable::log(1 - u) / (weight * (chance ? chance(item) : 1)), item);
    std::push_heap(keys_.begin(), keys_.end());
    if (!full) continue;
    std::pop_heap(keys_.begin(), keys_.end());
    keys_.pop_back();
  }
  for (const auto& key : keys_) insert(key.second);
}

void ItemSampler::take_ascending(View<std::int32_t> out) {
  std::int64_t filled = 0;
  for (std::int64_t w = 0; w < std::ssize(bitmap_) && filled < out.size(); ++w) {
    for (std::uint64_t word = bitmap_[w]; word != 0; word &= word - 1)
      out[filled++] = static_cast<std::int32_t>(w * 64) + std::countr_zero(word);
    bitmap_[w] = 0;
  }
}

std::int64_t ItemSampler::insert_by_taste(std::int64_t missing, std::int64_t total, Rng& rng) {
  const Tastes& tastes = catalog_.tastes();
  taste_ = tastes.draw(total, rng);
  std::int64_t count = 0;
  // Who has most of the favourite niches takes the rest from all items.
  for (std::int64_t draws = kTasteDraws * missing; draws > 0 && count < missing; --draws)
    count += insert(tastes.draw_item(taste_, catalog_.alias(), rng)) ? 1 : 0;
  return count;
}

void ItemSampler::draw(View<const std::int32_t> owed, const Chance& chance, Rng& rng,
                       View<std::int32_t> out) {
  std::int64_t count = 0;
  for (const std::int32_t item : owed) count += insert(item) ? 1 : 0;
  if (catalog_.tastes().any()) count += insert_by_taste(out.size() - count, out.size(), rng);
  // Rejection is fastest until most draws hit items already taken; keys cost a pass over all.
  std::int64_t draws = (out.size() + catalog_.size() / 2) * (chance ? kChoices : 1);
  if (catalog_.choosy()) draws = 0;
  for (; count < out.size() && draws > 0; --draws) {
    const std::int32_t item = catalog_.alias().draw(rng);
    if (chance && rng.uniform() >= chance(item)) continue;
    count += insert(item) ? 1 : 0;
  }
  if (count < out.size()) insert_by_keys(out.size() - count, chance, rng);
  take_ascending(out);
}

}  // namespace mf::synthetic
