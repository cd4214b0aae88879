// The observed pairs by users (for X) and by items (for Y), with their weights.
#pragma once

#include "algorithms/als/side.hpp"
#include "algorithms/core/implicit.hpp"
#include "algorithms/core/observed.hpp"
#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::ials {

// Both sides of R. `values` of a Side are the weights w = alpha r = c - c_i, all above 0: a pair of
// value 0 is not observed and left out. The system of an item is divided by its c_i, so its
// weights are w / c_i; the system of a user keeps the c_i as `unobserved`. Borrows the ratings
// (they must outlive it) and owns the data that differ from them: the columns, and the users' side
// if a value is 0 or alpha is not 1.
class Sides {
 public:
  Sides() = default;
  // Throws Error(usage), naming the pair, if a value is negative or not finite, or its weight is
  // beyond fp32.
  Sides(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team);
  Sides(const Sides&) = delete;  // users_ would be views of another's arrays
  Sides& operator=(const Sides&) = delete;
  Sides(Sides&&) = default;
  Sides& operator=(Sides&&) = default;

  als::Side users() const { return users_; }
  View<const float> unobserved() const { return unobserved_; }  // c_i; empty: 1
  als::Side items() const {
    return {columns_.item_offsets, columns_.users, columns_.values, "item"};
  }
  std::int64_t filled_rows() const;  // users and items that have a pair

 private:
  void weigh_by_popularity(double exponent);

  als::Side users_;  // views of the ratings, or of:
  ObservedRows own_;
  Csc columns_;
  AlignedVector<float> unobserved_;
};

// l of every row of a side (ImplicitLoss::row_reg), `others` being the rows of the other one;
// divided by c of the row, if that is given.
AlignedVector<float> row_regs(const als::Side& side, std::int64_t others, const ImplicitLoss& loss,
                              View<const float> unobserved = {});

}  // namespace mf::ials
