// Models without factors of users: a user's scores come from their observed items.
//
//   score(u, i) = sum over the history of u of W_ji
#pragma once

#include "base/view.hpp"
#include "datasets/ratings/rating.hpp"

namespace mf {

class HistoryScores {
 public:
  virtual ~HistoryScores() = default;

  // For all items, the history's among them; `history` has observed pairs only, items ascending.
  // Called by several threads at once.
  virtual void score(View<const RowRating> history, View<float> scores) const = 0;

  // W in device memory, n_items x n_items, row after row; null: it is on the host.
  virtual const float* device_weights() const { return nullptr; }
};

}  // namespace mf
