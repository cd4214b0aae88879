// Both half-steps of als_fused on the device: R, the factors, the tasks. algorithm.cuda.cpp
// makes an algorithm of it.
//
// Over the devices of several ranks each solves its own rows of X and of Theta, in parts: the fp16
// words that kernels read go to all others as soon as a part is solved, while the next one is. The
// first factors and the solutions in fp32 are kept by their readers: the rank that solves the row,
// and rank 0, which gathers them to be evaluated.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/als/device_center.hpp"
#include "algorithms/als/fused/applied/applied.hpp"
#include "algorithms/als/fused/kernels.hpp"
#include "algorithms/als/fused/scale.hpp"
#include "algorithms/als/fused/settings.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/cuda/ranks/device_communicator.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/ratings/rank_ratings.hpp"
#include "algorithms/core/cuda/ratings/streamed_ratings.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "algorithms/core/rows.hpp"

namespace mf::als {

class FusedSteps {
 public:
  FusedSteps() = default;
  // Makes both sides of R and the first factors on the device. Everything it is given may end then.
  // Throws Error(data) for ratings that are not finite.
  FusedSteps(const FusedSettings& settings, cuda::DeviceRatings& ratings,
             const DeviceResidual& center, const Model& initial, Context& context);
  // With ratings that stay on the host. The biases of the center must outlive it.
  FusedSteps(const FusedSettings& settings, std::shared_ptr<cuda::StreamedRatings> ratings,
             const DeviceResidual& center, const Model& initial, Context& context);
  // For one rank; the devices must outlive it. All ranks together.
  FusedSteps(const FusedSettings& settings, cuda::RankRatings& ratings,
             const DeviceResidual& center, const Model& initial, Context& context);

  // How the rows of a side are cut among ranks: the same on all.
  static RowShards shard(const FusedSettings& settings, View<const std::int64_t> offsets,
                         Communicator& ranks, ThreadTeam& team);

  // For `center: solved` with one rank. The center must outlive this object.
  void solve_biases(DeviceCenter& center) { biases_ = &center; }

  // X from Theta; Theta from X. Queued on the stream; over ranks, the others' rows are there after
  // join().
  void update_x(cudaStream_t stream) { update(users_, items_, stream); }
  void update_theta(cudaStream_t stream) { update(items_, users_, stream); }

  // Over ranks; does nothing for one. Later work on the stream waits for the exchange.
  void join(cudaStream_t stream);
  // Over ranks: X and Theta in fp32 to rank 0. Queued.
  void gather(cudaStream_t stream);

  // Rows of fp32 numbers, zero beyond the factors. Over ranks: whole on rank 0, after gather().
  std::int64_t stride() const { return row_stride(rule_.factors, sizeof(float)); }
  const float* x() const { return users_.factors.data(); }
  const float* theta() const { return items_.factors.data(); }

  // Tasks and parts of split rows of each side, the tasks of applied rows, the products and the
  // scale of the ratings, for the result's header; over ranks, of the own rows, and how many those
  // are.
  Json facts() const;

  // For tests: the launch of update_x, of one rank.
  FusedSide users_side() { return arguments(users_, users_.parts.front(), items_); }
  const FusedRule& rule() const { return rule_; }
  // For benchmarks: CG steps of the next updates, 0 or more.
  void set_steps(std::int32_t steps) { rule_.steps = steps; }

 private:
  // Rows that are solved before they are exchanged, or the rows of a piece of streamed ratings:
  // tasks count rows from the first of them.
  struct RowBatch {
    RowRange rows;
    cuda::DeviceBuffer<FusedTask> tasks;  // of formed rows, then of applied ones
    std::int32_t slots = 0;
    AppliedTasks applied;
  };
  struct DeviceSide {
    RowShards shards;
    RowRange held;  // of `factors`
    std::int64_t own_ratings = 0;
    std::vector<RowBatch> parts;
    cuda::DeviceBuffer<FusedEntry> entries;  // none if they are made of each piece
    cuda::DeviceBuffer<float> factors;
    cuda::DeviceBuffer<__half> high, low;  // of all rows
    NarrowRows narrow() { return {high.data(), low.data()}; }
    std::int64_t sum(std::int64_t (*of)(const RowBatch&)) const;
  };
  template <class RatingsOnDevice>
  void make(RatingsOnDevice& ratings, const DeviceResidual& center, const Model& initial,
            Context& context);
  int rank() const { return devices_ != nullptr ? devices_->rank() : 0; }
  RowRange own(const DeviceSide& side) const { return side.shards.own(rank()); }
  void set_rule(float largest);
  void make_side(DeviceSide& side, const cuda::RatingsOfRows& rows, cuda::RowsOf which,
                 const DeviceResidual& center, cudaStream_t stream) const;
  void start(DeviceSide& side, cuda::RowsOf which, const Model& initial,
             cuda::Uploader& uploader) const;
  FusedSide arguments(DeviceSide& to, RowBatch& part, DeviceSide& from);
  void update(DeviceSide& to, DeviceSide& from, cudaStream_t stream);
  void update_in_pieces(DeviceSide& to, DeviceSide& from, cudaStream_t stream);
  void put_biases(DeviceSide& to, DeviceSide& from, cudaStream_t stream);
  void solve(const FusedSide& side, const RowBatch& part, cudaStream_t stream) const;
  void exchange(DeviceSide& side, int part, cudaStream_t stream);
  void gather(DeviceSide& side, cudaStream_t stream);

  FusedSettings settings_;
  std::int64_t ratings_ = 0;  // of all ranks
  FusedScale scale_;
  FusedRule rule_;
  DeviceSide users_, items_;
  cuda::DeviceBuffer<float> scratch_;
  cuda::DeviceBuffer<std::uint32_t> arrived_, next_;
  cuda::DeviceCommunicator* devices_ = nullptr;      // null: one rank
  DeviceCenter* biases_ = nullptr;                   // null unless solved
  std::shared_ptr<cuda::StreamedRatings> streamed_;  // null: the entries are on the device
  DeviceResidual center_;                            // of streamed ratings
  struct Events {
    cuda::Event solved, begun, done;
  };
  std::optional<Events> events_;
};

}  // namespace mf::als
