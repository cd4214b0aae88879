#include "algorithms/baseline/item_products.hpp"

#include <cmath>

namespace mf::baseline {

double ItemProducts::norm(std::int64_t j) const {
  double sum = 0;
  for (auto k = by_item_.item_offsets[j]; k < by_item_.item_offsets[j + 1]; ++k) {
    sum += by_item_.values[k] > 0 ? 1 : 0;
  }
  return std::sqrt(sum);
}

double count_products(const Ratings& train) {
  double sum = 0;
  for (std::int64_t u = 0; u < train.n_users(); ++u) {
    const auto n = static_cast<double>(train.user_offsets()[u + 1] - train.user_offsets()[u]);
    sum += n * n;
  }
  return sum;
}

}  // namespace mf::baseline
