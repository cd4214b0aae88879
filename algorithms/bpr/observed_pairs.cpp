#include "algorithms/bpr/observed_pairs.hpp"

#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::bpr {
ObservedPairs::ObservedPairs(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team) {
  const std::int64_t observed = count_observed(train, loss, team);
  pairs_ = {train.user_offsets().data(),
            train.users().data(),
            train.items().data(),
            train.values().data(),
            observed,
            train.n_items()};
  if (observed < train.nnz()) {
    own_ = ObservedRows(train, observed);
    pairs_.offsets = own_.offsets.data();
    pairs_.users = own_.users.data();
    pairs_.items = own_.items.data();
    pairs_.values = own_.values.data();
  }
  rows_ = count_filled({pairs_.offsets, train.n_users() + std::int64_t{1}}) +
          count_different({pairs_.items, observed}, train.n_items());
}

}  // namespace mf::bpr
