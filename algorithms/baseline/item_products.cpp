#include "algorithms/baseline/item_products.hpp"

#include <cmath>

namespace mf::baseline {

ItemProducts::ItemProducts(const Ratings& train, Weights weights, int threads)
    : train_(&train), by_user_(train.nnz()), by_item_(make_csc(train, threads)) {
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    by_user_[k] = weight_of(train.values()[k], weights);
    by_item_.values[k] = weight_of(by_item_.values[k], weights);
  }
}

double ItemProducts::norm(std::int64_t j) const {
  double sum = 0;
  for (auto k = by_item_.item_offsets[j]; k < by_item_.item_offsets[j + 1]; ++k) {
    const auto x = static_cast<double>(by_item_.values[k]);
    sum += x * x;
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
