// The column view by a stable counting sort. Ratings come ordered by user, so a stable sort by item
// leaves the users of an item ascending.

#include "datasets/ratings/ratings.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
Csc make_csc(const Ratings& ratings, int threads) {
  return make_csc(ratings.users(), ratings.items(), ratings.values(), ratings.n_items(), threads);
}

Csc make_csc(View<const std::int32_t> users, View<const std::int32_t> of_items,
             View<const float> values, std::int32_t n_items, int threads) {
  const std::int64_t nnz = values.size();
  ThreadTeam team(useful_threads(threads, nnz));
  Csc csc;
  csc.item_offsets = key_offsets(of_items, n_items, team);
  csc.users.resize(nnz);
  csc.values.resize(nnz);
  const std::int64_t n_users = nnz > 0 ? std::int64_t{users.back()} + 1 : 0;
  sort_rows({of_items.data(), users.data(), values.data()}, csc.item_offsets, n_users,
            {nullptr, csc.users.data(), csc.values.data()}, team);
  return csc;
}

}  // namespace mf
