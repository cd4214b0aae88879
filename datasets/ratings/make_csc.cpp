// The column view by a stable counting sort. Ratings come ordered by user, so a stable sort by item
// leaves the users of an item ascending.
#include <vector>

#include "datasets/ratings/ratings.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

// Sorts one bucket by item in place, through a copy that stays in a cache.
class ColumnSorter {
 public:
  ColumnSorter(View<const std::int32_t> items, Csc& csc) : items_(items), csc_(csc) {}

  void operator()(std::int32_t first_item, std::int32_t end_item) const {
    if (end_item - first_item < 2) return;  // one item, of any size, is in order already
    const auto& offsets = csc_.item_offsets;
    const std::int64_t begin = offsets[first_item];
    const std::int64_t end = offsets[end_item];
    const AlignedVector<std::int32_t> users(csc_.users.data() + begin, csc_.users.data() + end);
    const AlignedVector<float> values(csc_.values.data() + begin, csc_.values.data() + end);
    std::vector<std::int64_t> next(offsets.begin() + first_item, offsets.begin() + end_item);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t to = next[items_[i] - first_item]++;
      csc_.users[to] = users[i - begin];
      csc_.values[to] = values[i - begin];
    }
  }

 private:
  View<const std::int32_t> items_;
  Csc& csc_;
};

}  // namespace

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
  AlignedVector<std::int32_t> items(nnz);
  const Buckets buckets = make_buckets(csc.item_offsets);
  scatter_to_buckets({of_items.data(), users.data(), values.data()}, nnz, buckets, csc.item_offsets,
                     {items.data(), csc.users.data(), csc.values.data()}, team);
  const ColumnSorter sort(items, csc);
  team.for_chunks(buckets.count(), 1, [&](std::int64_t b, std::int64_t) {
    sort(buckets.first_key[b], buckets.first_key[b + 1]);
  });
  return csc;
}

}  // namespace mf
