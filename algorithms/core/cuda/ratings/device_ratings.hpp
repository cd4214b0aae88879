// R on the device from one upload: its rows as in host memory, and its columns, which are made
// there on request. Cases of a run that train on the same ratings share them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "algorithms/core/cuda/memory.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/rating.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {
struct Context;
}

namespace mf::cuda {

// Rows of R, or its columns in the same form: ratings[offsets[x]] to ratings[offsets[x + 1] - 1]
// belong to row x, ascending in `other`. Device memory of a DeviceRatings. In a piece of streamed
// ratings the offsets begin with `first`, so `ratings` must only be read from there on.
struct RatingsOfRows {
  const std::int64_t* offsets = nullptr;
  const RowRating* ratings = nullptr;
  std::int64_t rows = 0;
  std::int64_t nnz = 0;
  std::int64_t first = 0;  // offsets[0]
};

// The cost of making a view of R, to be shared among cases. Only for kept ratings: measuring waits
// for the stream.
struct ViewCost {
  bool made = false;
  bool asked = false;  // since begin_case()
  double seconds = 0;
};

class DeviceRatings {
 public:
  // Queues the upload. `from` may change when it has returned. 8 bytes a rating and a user.
  DeviceRatings(const Ratings& from, ThreadTeam& team, cudaStream_t stream);

  std::int32_t n_users() const { return n_users_; }
  std::int32_t n_items() const { return n_items_; }
  std::int64_t nnz() const { return nnz_; }

  RatingsOfRows rows() const;
  // Made by the first call, by a stable sort: equal to make_csc. Keeps 8 bytes a rating and an
  // item; needs at most 24 more for each of kSortAtOnce ratings while sorting.
  RatingsOfRows columns(cudaStream_t stream);

  // How many ratings each item has: n_items numbers. Made by the first call.
  const std::int64_t* item_counts(cudaStream_t stream);

  // Users and items with at least one rating. Wait for the stream when first asked.
  std::int64_t rating_users(cudaStream_t stream);
  std::int64_t rated_items(cudaStream_t stream);

  // For later cases: release_rows() then keeps the data.
  void keep() { kept_ = true; }
  void begin_case() { columns_cost_.asked = counts_cost_.asked = false; }
  const ViewCost& columns_cost() const { return columns_cost_; }
  const ViewCost& counts_cost() const { return counts_cost_; }
  // Frees the rows that an algorithm has copied, for the memory; unless kept, earlier views are
  // invalid then, and rows() are gone for good.
  void release_rows();
  void release_columns();

 private:
  template <class Make>
  void make_view(ViewCost& cost, cudaStream_t stream, Make&& make);

  std::int32_t n_users_;
  std::int32_t n_items_;
  std::int64_t nnz_;
  DeviceBuffer<std::int64_t> user_offsets_;
  DeviceBuffer<RowRating> ratings_;
  DeviceBuffer<std::int64_t> item_offsets_;
  DeviceBuffer<RowRating> columns_;
  DeviceBuffer<std::int64_t> item_counts_;
  std::optional<std::int64_t> rating_users_, rated_items_;
  bool kept_ = false;
  ViewCost columns_cost_, counts_cost_;
};

// The context's ratings, or else a new upload (the phase "transfer") that ends with the pointer.
std::shared_ptr<DeviceRatings> ratings_on_device(const Ratings& train, const Context& context);

// users[i] = the user of rating i: nnz numbers. Queued on the stream.
void expand_users(const RatingsOfRows& rows, std::int32_t* users, cudaStream_t stream);

}  // namespace mf::cuda
