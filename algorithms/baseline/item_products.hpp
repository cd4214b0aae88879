// X, with x_ui 1 if user u was observed with item i, by user and by item; products of its columns
// are elements of X^T X.
#pragma once

#include <cstdint>

#include "datasets/ratings/ratings.hpp"

namespace mf::baseline {

// The number of products of two pairs of one user, over all pairs of columns.
double count_products(const Ratings& train);

class ItemProducts {
 public:
  ItemProducts() = default;
  ItemProducts(const Ratings& train, int threads)
      : train_(&train), by_item_(make_csc(train, threads)) {}

  // Calls add(i) for the items i < end of each user of item j, users ascending, and of a user the
  // items ascending.
  template <class Add>
  void for_products(std::int64_t j, std::int64_t end, const Add& add) const {
    const auto offsets = train_->user_offsets();
    const auto items = train_->items();
    const auto values = train_->values();
    for (auto k = by_item_.item_offsets[j]; k < by_item_.item_offsets[j + 1]; ++k) {
      const std::int64_t u = by_item_.users[k];
      if (!(by_item_.values[k] > 0)) continue;
      for (auto m = offsets[u]; m < offsets[u + 1] && items[m] < end; ++m) {
        if (values[m] > 0) add(items[m]);
      }
    }
  }

  double norm(std::int64_t j) const;  // of column j

 private:
  const Ratings* train_ = nullptr;
  Csc by_item_;
};

}  // namespace mf::baseline
