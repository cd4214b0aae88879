// The two half-steps of ALS see R by rows (X) and by columns (Theta), in the same form.
#pragma once

#include "algorithms/als/center.hpp"
#include "algorithms/als/side.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "base/aligned.hpp"
#include "datasets/ratings/rating_slice.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::als {

// Which rows of X and of Theta each rank solves.
struct RankCuts {
  RowCuts users, items;
};

// Both sides of R. Borrows the ratings (they must outlive it) and owns the data that differ from
// them: the columns, the center, and the residuals if one is removed.
class Sides {
 public:
  Sides() = default;
  // `reg` is for the center's biases.
  Sides(const Ratings& train, CenterKind kind, RowReg reg, ThreadTeam& team);
  // For a rank: a copy of its rows and columns, which borrows nothing. All ranks together.
  Sides(const RatingSlice& slice, CenterKind kind, RowReg reg, ThreadTeam& team,
        const RankCuts& cuts, Communicator& ranks);

  Side users() const;
  Side items() const;
  const Center& center() const { return center_; }

 private:
  const Ratings* train_ = nullptr;    // null for a rank
  AlignedVector<float> user_values_;  // empty if nothing was removed
  Csc columns_;
  OwnRows own_items_, own_users_;  // of a rank; in this order, since making columns takes more
  Center center_;
};

}  // namespace mf::als
