#include "algorithms/bpr/observed_pairs.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/core/observed.hpp"

namespace mf::bpr {
namespace {

std::int64_t count_rows(const Pairs& pairs, std::int64_t n_users) {
  std::int64_t rows = 0;
  for (std::int64_t u = 0; u < n_users; ++u) rows += pairs.offsets[u] < pairs.offsets[u + 1];
  std::vector<bool> seen(pairs.n_items);
  for (std::int64_t k = 0; k < pairs.count; ++k) seen[pairs.items[k]] = true;
  return rows + std::count(seen.begin(), seen.end(), true);
}

}  // namespace

ObservedPairs::ObservedPairs(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team) {
  const std::int64_t observed = count_observed(train, loss, team);
  pairs_ = {train.user_offsets().data(),
            train.users().data(),
            train.items().data(),
            train.values().data(),
            observed,
            train.n_items()};
  if (observed < train.nnz()) copy_observed(train);
  rows_ = count_rows(pairs_, train.n_users());
}

void ObservedPairs::copy_observed(const Ratings& train) {
  offsets_.assign(train.n_users() + 1, 0);
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    const Rating pair = train[k];
    if (pair.value == 0) continue;
    users_.push_back(pair.user);
    items_.push_back(pair.item);
    values_.push_back(pair.value);
    offsets_[pair.user + 1] = std::ssize(items_);
  }
  for (std::int64_t u = 0; u < train.n_users(); ++u) {
    offsets_[u + 1] = std::max(offsets_[u + 1], offsets_[u]);
  }
  pairs_.offsets = offsets_.data();
  pairs_.users = users_.data();
  pairs_.items = items_.data();
  pairs_.values = values_.data();
}

}  // namespace mf::bpr
