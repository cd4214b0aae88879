#include "algorithms/baseline/products.hpp"

#include <utility>
#include <vector>

namespace mf::baseline {

Products::Lists::Lists(View<const std::int64_t> all_offsets, View<const std::int32_t> all,
                       View<const float> values)
    : offsets(all_offsets.size(), 0), of(all.size()) {
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < size(); ++r) {
    for (auto k = all_offsets[r]; k < all_offsets[r + 1]; ++k) {
      if (values[k] > 0) of[count++] = all[k];
    }
    offsets[r + 1] = count;
  }
}

Products::Products(const Ratings& train, Side objects, int threads)
    : features_(train.user_offsets(), train.items(), train.values()) {
  const Csc by_item = make_csc(train, threads);
  objects_ = Lists(by_item.item_offsets, by_item.users, by_item.values);
  if (objects == Side::items) std::swap(features_, objects_);
}

double count_products(const Ratings& train, Side objects) {
  std::vector<std::int64_t> counts(train.n_items(), 0);
  if (objects == Side::users) {
    for (const auto i : train.items()) ++counts[i];
  } else {
    const auto offsets = train.user_offsets();
    counts.resize(train.n_users());
    for (std::int64_t u = 0; u < train.n_users(); ++u) counts[u] = offsets[u + 1] - offsets[u];
  }
  double sum = 0;
  for (const auto n : counts) sum += static_cast<double>(n) * static_cast<double>(n);
  return sum;
}

}  // namespace mf::baseline
