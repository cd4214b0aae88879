// Both half-steps of ials_fused on the device. algorithm.cuda.cpp makes an algorithm of it.
//
//   (G + l I + sum w y y^T) x = sum (1 + w) y,    G = Y^T Y
//
// A half-step changes to the variables in which G + l I is the identity (whitening.hpp), rounds the
// rows of the other side to fp16, solves all rows by the kernel of als_fused, short ones by the
// kernel of als/fused/applied/applied.hpp, and changes back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/als/fused/applied/applied.hpp"
#include "algorithms/als/fused/kernels.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/cuda/ranks/device_communicator.hpp"
#include "algorithms/core/cuda/ratings/streamed_ratings.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "algorithms/core/rows.hpp"
#include "algorithms/ials/device_pairs.hpp"
#include "algorithms/ials/fused/plan.hpp"
#include "algorithms/ials/fused/settings.hpp"
#include "algorithms/ials/fused/weighting.hpp"
#include "algorithms/ials/fused/whitening.hpp"

namespace mf::ials {

class FusedSteps {
 public:
  FusedSteps() = default;
  // Makes both sides, tasks and the first factors on the device, and releases the pairs. Everything
  // it is given may end then.
  FusedSteps(const FusedSettings& settings, DevicePairs& pairs, const Model& initial,
             Context& context);
  // The same with the ratings of the pairs, which stay on the host.
  FusedSteps(const FusedSettings& settings, DevicePairs& pairs,
             std::shared_ptr<cuda::StreamedRatings> ratings, const Model& initial,
             Context& context);
  // For a rank, whose pairs these are; the devices must outlive it. All ranks together.
  FusedSteps(const FusedSettings& settings, DevicePairs& pairs, const RowShards& users,
             const RowShards& items, cuda::DeviceCommunicator* devices, const Model& initial,
             Context& context);

  // How the rows of a side are cut among ranks: the same on all.
  static RowShards shard(const FusedSettings& settings, View<const std::int64_t> offsets,
                         Communicator& ranks, ThreadTeam& team);

  // X from Y; Y from X. Queued on the stream of the context, by two calls: the phases `gram` and
  // `update_x` or `update_y`.
  void whiten_y() { whiten(items_); }
  void whiten_x() { whiten(users_); }
  void update_x() { update(users_, items_); }
  void update_y() { update(items_, users_); }

  // Over ranks: X and Y in fp32 to rank 0. Queued.
  void gather();

  // Rows of fp32 numbers, zero beyond the factors. Over ranks: whole on rank 0, after gather().
  std::int64_t stride() const { return row_stride(settings_.common.factors, sizeof(float)); }
  const float* x() const { return users_.factors.data(); }
  const float* y() const { return items_.factors.data(); }

  // Tasks and parts of split rows of each side, and how weights enter.
  Json facts() const;
  // Waits for the device; throws if a Gram matrix had no Cholesky factor.
  void check() const { whitening_.check(); }

  // For benchmarks: CG steps of the next updates, 0 or more.
  void set_steps(std::int32_t steps) { settings_.common.cg.steps = steps; }

 private:
  // The rows of one piece of streamed ratings, or all rows that are solved here. Tasks count rows
  // from the first.
  struct RowBatch {
    std::int64_t first_row = 0;  // of those that are solved here
    SidePlan plan;
  };
  struct DeviceSide {
    RowShards shards;
    std::int64_t all_rows = 0;
    std::int64_t first_row = 0, rows = 0;  // that are solved here
    std::int64_t first_held = 0;           // of `factors`
    std::int64_t pairs = 0;
    std::vector<RowBatch> parts;
    cuda::DeviceBuffer<als::FusedEntry> entries;  // none if they are made of each piece
    cuda::DeviceBuffer<float> factors;
    cuda::DeviceBuffer<__half> high, low;
    als::NarrowRows narrow() { return {high.data(), low.data()}; }
    std::int64_t sum(std::int64_t (*of)(const RowBatch&)) const;
  };
  // Factors of the rows that are solved here.
  float* own(DeviceSide& side) const {
    return side.factors.data() + (side.first_row - side.first_held) * stride();
  }
  als::NarrowRows narrow_from(DeviceSide& side, std::int64_t first) const;
  void gather(DeviceSide& side);
  DeviceSide make_side(const cuda::RatingsOfRows& pairs, const RowShards& shards,
                       double alpha) const;
  void start(DeviceSide& side, const std::int64_t* offsets, cuda::RowsOf which,
             const Model& initial, cuda::Uploader& uploader) const;
  void whiten(DeviceSide& from);
  void update(DeviceSide& to, DeviceSide& from);
  void solve(DeviceSide& to, DeviceSide& from, const RowBatch& part,
             const als::FusedEntry* entries);
  float shrink(const DeviceSide& from) const;
  als::FusedRule rule(const DeviceSide& from) const;
  als::AppliedRule applied_rule(const DeviceSide& from) const;

  FusedSettings settings_;
  cudaStream_t stream_ = nullptr;
  cuda::DeviceCommunicator* devices_ = nullptr;
  std::shared_ptr<cuda::StreamedRatings> streamed_;  // null: the entries are on the device
  double alpha_ = 0;                                 // of streamed ratings
  bool group_ = false;  // equal weights: A is formed by als_fused's kernel of warpgroups
  Weighting weighting_;
  Whitening whitening_;
  DeviceSide users_, items_;
  cuda::DeviceBuffer<float> rows_;  // theta'' in fp32, then the start and solution of a half-step
  cuda::DeviceBuffer<float> scratch_;
  cuda::DeviceBuffer<std::uint32_t> arrived_, next_;
};

}  // namespace mf::ials
