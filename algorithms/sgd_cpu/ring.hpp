// FPSGD over ranks, in the order of DSGD (Gemulla, Nijkamp, Haas, Sismanis, KDD 2011): each rank
// has a range of the rows of P for good, and a range of the rows of Q for a stage of the epoch,
// after which it goes to the next rank. No two ranks ever hold the same rows, and an epoch of K
// stages has every rank meet every row of Q once.
#pragma once

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "algorithms/sgd_cpu/row_store.hpp"
#include "base/ranks/communicator.hpp"

namespace mf::sgd_cpu {

class Ring {
 public:
  Ring() = default;
  // `users` and `items` cut the rows of the grid; null: one process, which has all rows.
  Ring(Communicator* ranks, RowCuts users, RowCuts items);

  int size() const { return size_; }
  RowRange own_users() const { return rows_of(users_, rank_); }
  RowRange own_items() const { return rows_of(items_, part()); }  // those it has now

  // The part of the items that this rank has now.
  int part() const { return part_of(rank_); }
  // A number for each pair of users and items; 0 if there is one.
  std::uint64_t place() const { return static_cast<std::uint64_t>(rank_) * size_ + part(); }

  // After a stage, done or given up (false): true if all ranks have done theirs; each then has the
  // part of the one before it. Phases: "wait_ranks", then "exchange".
  bool pass_on(bool done, RowStore& rows, PhaseSink* phases);

  // Over all ranks.
  std::int64_t sum(std::int64_t own);

  // To rank 0: the users' rows of each, and the items' rows from their current ranks.
  void gather(RowStore& rows);

 private:
  int part_of(int rank) const { return (rank - stage_ % size_ + size_) % size_; }
  void gather_table(const RowStore::Table& table, const RowCuts& cuts, bool items);

  Communicator* ranks_ = nullptr;
  int size_ = 1;
  int rank_ = 0;
  int stage_ = 0;  // stages done so far, modulo the ranks
  RowCuts users_, items_;
};

}  // namespace mf::sgd_cpu
