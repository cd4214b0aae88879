#include "datasets/expand/block_shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mf::expand {
namespace {

// The group of each: the largest counts first, as many in each group, up to rounding.
std::vector<std::int64_t> groups_by(const std::vector<std::int64_t>& counts, std::int64_t groups) {
  const auto n = static_cast<std::int64_t>(counts.size());
  std::vector<std::int64_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return counts[a] > counts[b]; });
  std::vector<std::int64_t> group(counts.size());
  for (std::int64_t place = 0; place < n; ++place) group[order[place]] = place * groups / n;
  return group;
}

// For each pair of groups, the square root of its ratings and of one more, so that no block is
// empty.
std::vector<double> weights_of(const Ratings& ratings, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> of_user(ratings.n_users(), 0), of_item(ratings.n_items(), 0);
  for (std::int64_t k = 0; k < ratings.nnz(); ++k) {
    ++of_user[ratings.users()[k]];
    ++of_item[ratings.items()[k]];
  }
  const auto row = groups_by(of_user, rows), column = groups_by(of_item, columns);
  std::vector<double> counts(static_cast<std::size_t>(rows * columns), 1.0);
  for (std::int64_t k = 0; k < ratings.nnz(); ++k) {
    counts[row[ratings.users()[k]] * columns + column[ratings.items()[k]]] += 1;
  }
  for (double& count : counts) count = std::sqrt(count);
  return counts;
}

double mean_share(const std::vector<double>& counts, double factor) {
  double sum = 0;
  for (const double count : counts) sum += std::min(1.0, factor * count);
  return sum / static_cast<double>(counts.size());
}

}  // namespace

BlockShares::BlockShares(const Ratings& ratings, std::int64_t user_blocks, std::int64_t item_blocks,
                         double mean)
    : item_blocks_(item_blocks),
      shares_(weights_of(ratings, user_blocks, item_blocks)),
      sums_(static_cast<std::size_t>(user_blocks), 0.0) {
  double low = 0, high = 1;  // weights are 1 or more: with a factor of 1 every share is 1
  for (int step = 0; step < 100; ++step) {
    const double middle = 0.5 * (low + high);
    (mean_share(shares_, middle) < mean ? low : high) = middle;
  }
  for (std::size_t k = 0; k < shares_.size(); ++k) {
    shares_[k] = std::min(1.0, high * shares_[k]);
    sums_[k / static_cast<std::size_t>(item_blocks)] += shares_[k];
  }
}

}  // namespace mf::expand
