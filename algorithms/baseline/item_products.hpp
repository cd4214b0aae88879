// X, with x_ui above 0 if user u was observed with item i, by user and by item; products of its
// columns are elements of X^T X.
#pragma once

#include <cstdint>

#include "algorithms/baseline/weights.hpp"
#include "base/aligned.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::baseline {

// The number of products of two pairs of one user, over all pairs of columns.
double count_products(const Ratings& train);

class ItemProducts {
 public:
  ItemProducts() = default;
  ItemProducts(const Ratings& train, Weights weights, int threads);

  // Calls add(i, x_uj x_ui) for the items i < end of each user u of item j, users ascending, and of
  // a user the items ascending. Products of 0 are left out.
  template <class Add>
  void for_products(std::int64_t j, std::int64_t end, const Add& add) const {
    const auto offsets = train_->user_offsets();
    const auto items = train_->items();
    for (auto k = by_item_.item_offsets[j]; k < by_item_.item_offsets[j + 1]; ++k) {
      const float x = by_item_.values[k];
      const std::int64_t u = by_item_.users[k];
      if (x == 0) continue;
      for (auto m = offsets[u]; m < offsets[u + 1] && items[m] < end; ++m) {
        const float product = x * by_user_[m];
        if (product != 0) add(items[m], product);
      }
    }
  }

  double norm(std::int64_t j) const;  // of column j

 private:
  const Ratings* train_ = nullptr;
  AlignedVector<float> by_user_;  // x of each rating of train
  Csc by_item_;                   // its values are x
};

}  // namespace mf::baseline
