#include "datasets/expand/kept_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.hpp"

namespace mf::expand {
namespace {

// A row of blocks in proportion to their shares of the column b.
std::int64_t draw_user_block(const BlockShares& shares, std::int64_t b, double sum, Rng& rng) {
  double left = rng.uniform() * sum;
  for (std::int64_t a = 0; a + 1 < shares.user_blocks(); ++a) {
    left -= shares.at(a, b);
    if (left < 0) return a;
  }
  return shares.user_blocks() - 1;
}

}  // namespace

KeptPairs::KeptPairs(const Ratings& base, const BlockShares& shares, std::int64_t nnz,
                     std::uint64_t seed)
    : base_(base), shares_(shares) {
  owe(seed);
  share_out(nnz);
}

// For each copy of an item, one of its ratings is chosen, and a copy of the user who gave it.
void KeptPairs::owe(std::uint64_t seed) {
  const std::int64_t columns = shares_.item_blocks();
  std::vector<double> sums(static_cast<std::size_t>(columns), 0.0);
  for (std::int64_t b = 0; b < columns; ++b) {
    for (std::int64_t a = 0; a < shares_.user_blocks(); ++a) sums[b] += shares_.at(a, b);
  }
  // One pass over the ratings: the k-th of an item takes its place with the chance 1 / k.
  const std::int64_t n = base_.n_items() * columns;
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(n)), seen(base_.n_items(), 0);
  Rng rng(seed, 0);
  for (std::int64_t k = 0; k < base_.nnz(); ++k) {
    const std::int64_t i = base_.items()[k];
    const auto so_far = static_cast<std::uint64_t>(++seen[i]);
    for (std::int64_t b = 0; b < columns; ++b) {
      if (rng.below(so_far) == 0) chosen[i * columns + b] = k;
    }
  }
  std::vector<std::int64_t> order(chosen.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t x, std::int64_t y) { return chosen[x] < chosen[y]; });
  owed_offsets_.assign(static_cast<std::size_t>(base_.n_users()) + 1, 0);
  owed_.reserve(order.size());
  for (const std::int64_t which : order) {
    const std::int64_t u = base_.users()[chosen[which]];
    const std::int64_t b = which % columns;
    owed_.push_back(
        {draw_user_block(shares_, b, sums[b], rng), b, chosen[which] - base_.user_offsets()[u]});
    ++owed_offsets_[u + 1];
  }
  std::partial_sum(owed_offsets_.begin(), owed_offsets_.end(), owed_offsets_.begin());
}

// First the owed pairs, and one at least; the rest by the shares still missing. Running sums are
// rounded, so that all are nnz together.
void KeptPairs::share_out(std::int64_t nnz) {
  const std::int64_t rows = shares_.user_blocks();
  counts_.assign(static_cast<std::size_t>(base_.n_users() * rows), 0);
  for (std::int64_t u = 0; u < base_.n_users(); ++u) {
    for (const OwedPair& pair : owed(u)) ++counts_[u * rows + pair.user_block];
  }
  const auto missing = [&](std::int64_t at) {
    const double wanted = static_cast<double>(degree(at / rows)) * shares_.row_sum(at % rows);
    return std::max(0.0, wanted - static_cast<double>(counts_[at]));
  };
  const std::int64_t n = std::ssize(counts_);
  double all_missing = 0;
  for (std::int64_t at = 0; at < n; ++at) {
    counts_[at] = std::max<std::int64_t>(counts_[at], 1);
    nnz -= counts_[at];
    all_missing += missing(at);
  }
  const double factor = all_missing > 0 ? static_cast<double>(nnz) / all_missing : 0;
  double wanted = 0;
  std::int64_t given = 0;
  for (std::int64_t at = 0; at < n; ++at) {
    wanted += factor * missing(at);
    const std::int64_t room = degree(at / rows) * shares_.item_blocks() - counts_[at];
    const std::int64_t more = std::clamp<std::int64_t>(std::llround(wanted) - given, 0, room);
    counts_[at] += more;
    given += more;
  }
  // The remainder of rounding goes to the first with room.
  for (std::int64_t at = 0; at < n && given < nnz; ++at) {
    const std::int64_t room = degree(at / rows) * shares_.item_blocks() - counts_[at];
    const std::int64_t more = std::min(room, nnz - given);
    counts_[at] += more;
    given += more;
  }
}

std::vector<std::int64_t> KeptPairs::count_by_block(std::int64_t u, std::int64_t a) const {
  const std::int64_t columns = shares_.item_blocks();
  std::vector<std::int64_t> least(static_cast<std::size_t>(columns), 0);
  for (const OwedPair& pair : owed(u)) {
    if (pair.user_block == a) ++least[pair.item_block];
  }
  const double scale = static_cast<double>(count(u, a)) / shares_.row_sum(a);
  std::vector<std::int64_t> counts(least.size());
  // Another start for every user, or the last blocks would always be rounded down.
  double wanted = static_cast<double>(mix64(static_cast<std::uint64_t>(u) + 1) >> 11) * 0x1.0p-53;
  std::int64_t before = 0, total = 0;
  for (std::int64_t b = 0; b < columns; ++b) {
    wanted += scale * shares_.at(a, b);
    const auto now = static_cast<std::int64_t>(std::floor(wanted));
    counts[b] = std::clamp(now - before, least[b], degree(u));
    before = now;
    total += counts[b];
  }
  for (std::int64_t b = 0; total != count(u, a); b = (b + 1) % columns) {
    const int step = total < count(u, a) && counts[b] < degree(u)  ? 1
                     : total > count(u, a) && counts[b] > least[b] ? -1
                                                                   : 0;
    counts[b] += step;
    total += step;
  }
  return counts;
}

}  // namespace mf::expand
