// X, of which x_ui is above 0 where user u was observed with item i, by user and by item; products
// of its columns are elements of X^T X.
#pragma once

#include <cstdint>

#include "algorithms/core/params.hpp"
#include "base/aligned.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::baseline {

// What an observed pair weighs.
enum class Weights { binary, values };
inline constexpr Names kWeights{
    std::to_array<Named<Weights>>({{"binary", Weights::binary}, {"values", Weights::values}})};

// 0 of what was not observed, as the ranking has it: a value that is not above 0.
inline float weight_of(float value, Weights weights) {
  if (!(value > 0)) return 0;
  return weights == Weights::binary ? 1 : value;
}

class ItemProducts {
 public:
  ItemProducts() = default;
  ItemProducts(const Ratings& train, Weights weights, int threads);

  std::int64_t nnz() const { return train_->nnz(); }
  std::int32_t n_users() const { return train_->n_users(); }
  std::int32_t n_items() const { return train_->n_items(); }

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
  double count() const;               // of products of all pairs of columns

  static double bytes(std::int64_t nnz, std::int64_t n_items);

 private:
  const Ratings* train_ = nullptr;
  AlignedVector<float> by_user_;  // x of each rating of train
  Csc by_item_;                   // its values are x
};

}  // namespace mf::baseline
