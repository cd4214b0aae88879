// Models without factors of users: a user is scored by what he was observed with.
//
//   score(u, i) = sum over the history of u of x_uj W_ji
#pragma once

#include "base/view.hpp"
#include "datasets/ratings/rating.hpp"

namespace mf {

class HistoryScores {
 public:
  virtual ~HistoryScores() = default;

  // For all items, those of the history among them; `history` has observed pairs only, items
  // ascending. Called by several threads at once.
  virtual void score(View<const RowRating> history, View<float> scores) const = 0;
};

}  // namespace mf
