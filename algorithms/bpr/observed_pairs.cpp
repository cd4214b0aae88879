#include "algorithms/bpr/observed_pairs.hpp"

#include <algorithm>
#include <vector>

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
  if (observed < train.nnz()) use_copy(train, observed);
  rows_ = count_rows(pairs_, train.n_users());
}

void ObservedPairs::use_copy(const Ratings& train, std::int64_t observed) {
  own_ = ObservedRows(train, observed);
  users_.resize(observed);
  for (std::int32_t u = 0; u < train.n_users(); ++u) {
    std::fill(users_.begin() + own_.offsets[u], users_.begin() + own_.offsets[u + 1], u);
  }
  pairs_.offsets = own_.offsets.data();
  pairs_.users = users_.data();
  pairs_.items = own_.items.data();
  pairs_.values = own_.values.data();
}

}  // namespace mf::bpr
