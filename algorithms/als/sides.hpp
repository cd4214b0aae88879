// The two half-steps of ALS see R by rows (X) and by columns (Theta), in the same form.
#pragma once

#include "algorithms/als/center.hpp"
#include "algorithms/als/share.hpp"
#include "algorithms/als/side.hpp"
#include "base/aligned.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::als {

// Both sides of R. Borrows the ratings (they must outlive it) and owns what differs from them: the
// columns, the center, and the residuals where one is removed.
class Sides {
 public:
  Sides() = default;
  // `reg` is that of the center's biases.
  Sides(const Ratings& train, CenterKind kind, RowReg reg, ThreadTeam& team);
  // Of a rank: a copy of its share, which borrows nothing.
  Sides(const Ratings& train, CenterKind kind, RowReg reg, ThreadTeam& team, const Share& share,
        const BiasExchange& exchange);

  Side users() const;
  Side items() const;
  const Center& center() const { return center_; }

 private:
  const Ratings* train_ = nullptr;    // null for a rank
  AlignedVector<float> user_values_;  // empty where nothing was removed
  Csc columns_;
  OwnedSide own_users_, own_items_;  // of a rank
  Center center_;
};

}  // namespace mf::als
