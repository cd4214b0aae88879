// The observed pairs on the device, by users and by items, as Sides (sides.hpp) on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/cumf/split_side.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/ratings/rank_ratings.hpp"
#include "algorithms/core/cuda/ratings/streamed_ratings.hpp"
#include "algorithms/core/implicit.hpp"
#include "algorithms/core/observed.hpp"

namespace mf::ials {

class DevicePairs {
 public:
  // Looks at all values; waits for the stream. Throws as Sides does. `train` are the ratings on the
  // device, which are borrowed.
  DevicePairs(const Ratings& train, const ImplicitLoss& loss, cuda::DeviceRatings& ratings,
              cudaStream_t stream);

  // For the shares of all ranks; each has its own pairs. All ranks together; if one refuses, all
  // do.
  DevicePairs(const Ratings& train, const ImplicitLoss& loss, cuda::RankRatings& ratings,
              cudaStream_t stream);

  // With ratings that stay on the host: its rows and columns have offsets only. Throws Error(data)
  // if some pairs are not observed, which it does not leave out.
  DevicePairs(const Ratings& train, const ImplicitLoss& loss, cuda::StreamedRatings& ratings,
              cudaStream_t stream);

  std::int64_t count() const { return count_; }  // of all ranks
  double alpha() const { return alpha_; }
  WeightRange weights() const { return weights_; }

  // Rows of pairs, or columns; values are the ratings' (pair_weight() turns them into weights).
  // Pairs of value 0 are left out in a copy.
  cuda::RatingsOfRows users();
  cuda::RatingsOfRows items();
  // Users and items that have a pair, of all ranks. After both.
  std::int64_t rated_rows();
  // Frees the last view, but its offsets.
  void release_users();
  void release_items();

 private:
  struct Copy {
    cuda::DeviceBuffer<std::int64_t> offsets;
    cuda::DeviceBuffer<RowRating> ratings;
  };
  cuda::RatingsOfRows observed(const cuda::RatingsOfRows& all, Copy& copy);
  cuda::RatingsOfRows rows() const;
  cuda::RatingsOfRows columns();
  void release_rows();
  void release_columns();
  std::int64_t all_ratings() const;
  bool all_observed() const { return count_ == all_ratings(); }

  cuda::DeviceRatings* ratings_ = nullptr;
  cuda::RankRatings* share_ = nullptr;         // of a rank, instead
  cuda::StreamedRatings* streamed_ = nullptr;  // or these
  cudaStream_t stream_;
  double alpha_;
  std::int64_t count_ = 0;
  WeightRange weights_;
  Copy users_, items_;  // if some are not observed
};

// l of every row of a side of `rows`, `others` being the rows of the other one: row_regs
// (sides.hpp) but, with an exponent, for the last bit of a power. Queued.
void fill_row_regs(const std::int64_t* offsets, std::int64_t rows, std::int64_t others,
                   const ImplicitLoss& loss, float* regs, cudaStream_t stream);

// others[i] and the weight of pair i, for kernels that read them apart. Queued.
als::SplitSide split_pairs(const cuda::RatingsOfRows& rows, double alpha, cudaStream_t stream);
// Both sides, which are released. Queued.
als::SplitSides split_sides(DevicePairs& pairs, cudaStream_t stream);

}  // namespace mf::ials
