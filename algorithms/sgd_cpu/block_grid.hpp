// The partition of FPSGD: users and items in random order, cut into stripes of about equal numbers
// of ratings; a block is the ratings of one user stripe and one item stripe, grouped by user.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "algorithms/sgd_cpu/block_scheduler.hpp"
#include "algorithms/sgd_cpu/kernel.hpp"
#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/rating_slice.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::sgd_cpu {

struct GridShape {
  std::int32_t users = 1;  // user stripes
  std::int32_t items = 1;  // item stripes
};

struct GridRequest {
  std::int64_t n_users = 0;
  std::int64_t n_items = 0;
  std::int64_t nnz = 0;
  std::int64_t row_bytes = 0;
  std::int64_t l2_bytes = 0;
  int threads = 1;
  std::int64_t grid_users = 0;  // 0: automatic
  std::int64_t grid_items = 0;
  bool keep_user_stripe = false;  // size user stripes for the cache (BlockOrder::local)
  int ranks = 1;                  // as many have equal shares of the stripes of both sides
};

// Of fpsgd with these parameters, for one rank.
GridRequest grid_request(const Params& params, const ProblemShape& shape, int threads);

// NOTES.md, "The grid", says why these sizes.
GridShape plan_grid(const GridRequest& request);

// For one core, from the system; 1 MiB if unknown.
std::int64_t l2_cache_bytes();

struct Block {
  GridCell cell;
  std::int64_t first_run, runs;
  std::int64_t first_rating, ratings;
};

class BlockGrid {
 public:
  BlockGrid() = default;
  // Deterministic in (train, shape, seed), for any number of threads.
  BlockGrid(const Ratings& train, GridShape shape, std::uint64_t seed, ThreadTeam& team);
  // The same over ranks, of which each has the blocks of as many user stripes. All ranks together:
  // each gets the rows of its users, which lie anywhere.
  BlockGrid(const RatingSlice& slice, GridShape shape, std::uint64_t seed, Communicator& ranks,
            ThreadTeam& team);

  // Row x of P belongs to user user_of_row()[x]; users and items in runs and ratings are rows.
  const std::vector<std::int32_t>& user_of_row() const { return user_of_row_; }
  const std::vector<std::int32_t>& item_of_row() const { return item_of_row_; }

  GridShape shape() const { return shape_; }
  // First rows of the stripes, and the number of rows.
  const std::vector<std::int64_t>& user_starts() const { return user_starts_; }
  const std::vector<std::int64_t>& item_starts() const { return item_starts_; }
  const std::vector<Block>& blocks() const { return blocks_; }  // blocks with ratings
  std::vector<GridCell> cells() const;                          // of blocks()
  const Run* runs_of(const Block& block) const { return runs_.data() + block.first_run; }
  const RowRating* ratings_of(const Block& block) const {
    return ratings_.data() + block.first_rating;
  }

 private:
  // Rows of users with their ratings; rows of others may be empty.
  struct Rows {
    View<const std::int64_t> offsets;
    View<const std::int32_t> items;
    View<const float> values;
  };
  using Degrees = std::vector<std::int64_t>;
  void order_rows(const Degrees& users, const Degrees& items, std::uint64_t seed, ThreadTeam& team);
  void fill(const Rows& rows, RowRange user_stripes, ThreadTeam& team);

  GridShape shape_;
  std::vector<std::int32_t> user_of_row_, item_of_row_;
  std::vector<std::int64_t> user_starts_, item_starts_;
  std::vector<Block> blocks_;
  AlignedVector<Run> runs_;
  AlignedVector<RowRating> ratings_;
};

}  // namespace mf::sgd_cpu
