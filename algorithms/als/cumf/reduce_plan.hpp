// Batches of rows, and the device that solves each row, if every device forms its own ratings'
// terms of A_u and b_u (cuMF_ALS's data parallelism: a device has a K-th of the other side, and its
// ratings). All devices form the rows of a batch; each then gets the others' terms of its own rows,
// adds, and solves. The same on all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/als/cumf/plan.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "base/view.hpp"

namespace mf::als {

struct ReduceRule {
  std::int64_t batch_rows = 1;   // of all ranks, at most, at least 1 of each
  std::int64_t batch_parts = 0;  // that rows of a batch are cut into, at most
  std::int64_t split_rows = 0;   // as PlanRule has it
};

// A slot is a row's place in a batch: rank after rank, the rows of a rank side by side.
struct ReducePlan {
  int ranks = 1;
  std::vector<std::int32_t> rows;    // that have ratings, by slot, batch after batch
  std::vector<std::int64_t> begins;  // [batch * ranks + rank], and the end: places in `rows`

  std::int64_t batches() const { return (std::ssize(begins) - 1) / ranks; }
  Range of_batch(std::int64_t batch) const {
    return {begins[batch * ranks], begins[(batch + 1) * ranks]};
  }
  // The rows that `rank` solves.
  Range of_rank(std::int64_t batch, int rank) const {
    return {begins[batch * ranks + rank], begins[batch * ranks + rank + 1]};
  }
  std::vector<std::int64_t> batch_begins() const;

  // In a batch, and of one rank in it.
  std::int64_t most_rows() const;
  std::int64_t most_rows_of(int rank) const;
};

// offsets: of all rows over the ratings of all ranks. Each rank's rows that have ratings are cut
// into as many runs of even length, as few as the rule allows. A batch of one row a rank may have
// more parts than the rule: parts beyond K kMaxRowParts are not asked for.
ReducePlan plan_reduce(View<const std::int64_t> offsets, const RowShards& shards,
                       const ReduceRule& rule);

// Parts that rows are cut into, of all rows that are: at most, over any share of their ratings.
std::int64_t parts_of_all(View<const std::int64_t> offsets, std::int64_t split_rows);

// Bytes of one such system as it travels: A as formed, both halves in fp32, and b.
double reduced_system_bytes(std::int32_t factors);

// Room for the systems of a batch over `ranks`, as in choose_capacity; a_bytes is of A as it is
// stored for the solver.
Capacity reduce_capacity(std::int64_t rows_wanted, std::int64_t parts_wanted, std::int64_t asked,
                         int ranks, std::int32_t factors, double a_bytes, double budget_bytes);

}  // namespace mf::als
