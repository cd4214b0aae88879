// als_cpu over ranks: the owner of each row, and the exchange of rows.
#pragma once

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/als/sides.hpp"
#include "algorithms/core/algorithm.hpp"
#include "base/ranks/communicator.hpp"

namespace mf::als::cpu {

class RankRows {
 public:
  // Rows are cut by their work: their ratings, and the solver's cost in ratings.
  RankRows(const RatingSlice& slice, const Common& common, Solver solver, Communicator& ranks);

  // This rank's rows and columns of R, from the ranks that loaded them.
  Sides sides(const RatingSlice& slice, const Common& common, ThreadTeam& team);

  // Rows of all ranks with only their lengths: for tables of factors.
  Side all_users() const { return {user_offsets_, {}, {}}; }
  Side all_items() const { return {item_offsets_, {}, {}}; }

  // Call this once this rank's rows are done or given up (false). Returns true if all ranks are
  // done. The table then has all rows, and `biases`, unless empty, has the biases of all rows.
  // Phases: "wait_ranks" until the last rank is there, then "exchange".
  bool share_x(bool done, FactorTable& x, std::span<float> biases, PhaseSink* phases) {
    return share(done, x, biases, cuts_.users, phases);
  }
  bool share_theta(bool done, FactorTable& theta, std::span<float> biases, PhaseSink* phases) {
    return share(done, theta, biases, cuts_.items, phases);
  }

  // Rows and ratings of this rank.
  Json facts() const;

 private:
  bool share(bool done, FactorTable& table, std::span<float> biases, const RowCuts& cuts,
             PhaseSink* phases);

  Communicator& ranks_;
  AlignedVector<std::int64_t> user_offsets_, item_offsets_;
  RankCuts cuts_;
};

}  // namespace mf::als::cpu
