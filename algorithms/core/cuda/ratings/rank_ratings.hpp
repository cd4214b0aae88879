// R over the devices of several ranks: each has the rows of its users and the columns of its items,
// and uploads only its rows; rows near a cut that another rank has loaded come from it. The columns
// are made from all ranks' uploads: each sorts its rows by item, and sends every other its columns'
// ratings.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

#include "algorithms/core/cuda/ranks/device_communicator.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/phases.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "base/aligned.hpp"
#include "datasets/ratings/rating_slice.hpp"

namespace mf::cuda {

// How the rows of a side are cut, by their rows + 1 offsets, the same on all ranks.
using ShardRule = std::function<RowShards(View<const std::int64_t> offsets)>;

class RankRatings {
 public:
  // Uploads the rows of this rank's users (the phase "transfer"), and, if `train` is whole, counts
  // the ratings of all items. All ranks together; throws RankFault.
  RankRatings(const Ratings& train, const Context& context, const ShardRule& cut_users,
              const ShardRule& cut_items, DeviceCommunicator& devices);

  const RowShards& user_shards() const { return users_; }
  const RowShards& item_shards() const { return items_; }
  RowRange own_users() const { return users_.own(devices_->rank()); }
  RowRange own_items() const { return items_.own(devices_->rank()); }
  std::int64_t nnz() const { return nnz_; }  // of all ranks
  // Offsets of all items' columns, over the ratings of all ranks: items + 1.
  View<const std::int64_t> item_offsets() const { return item_offsets_; }

  // Row x belongs to user own_users().begin + x; `other` is an item's number.
  RatingsOfRows rows() const { return own_rows_; }
  // Column x belongs to item own_items().begin + x; `other` is a user's number, ascending. Made by
  // the first call, by all ranks together; waits for the stream.
  RatingsOfRows columns(cudaStream_t stream);

  void release_rows() { ratings_.reset(); }
  void release_columns() { columns_.reset(); }

  DeviceCommunicator& devices() const { return *devices_; }

 private:
  RowPieces own_pieces(const Ratings& train, const Context& context) const;
  void upload(const Ratings& train, const Context& context);
  void count_all_items(cudaStream_t stream);

  DeviceCommunicator* devices_;
  PhaseSink* phases_;  // outlives the columns
  RowShards users_, items_;
  std::int32_t n_items_;
  std::int64_t nnz_;
  AlignedVector<std::int64_t> item_offsets_;  // of all items, over the ratings of all ranks
  DeviceBuffer<std::int64_t> user_offsets_;   // of the own rows, from 0
  DeviceBuffer<RowRating> ratings_;
  RatingsOfRows own_rows_, own_columns_;
  DeviceBuffer<std::int64_t> column_offsets_;
  DeviceBuffer<RowRating> columns_;
};

}  // namespace mf::cuda
