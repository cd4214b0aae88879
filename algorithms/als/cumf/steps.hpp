// Both half-steps of `als` on the device: R, the factors and a batch of systems, and the kernels in
// order. algorithm.cuda.cpp makes an algorithm of it; tests and benchmarks take single kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/als/cumf/batch_solver.hpp"
#include "algorithms/als/cumf/bias.hpp"
#include "algorithms/als/cumf/device_plan.hpp"
#include "algorithms/als/cumf/hermitian.hpp"
#include "algorithms/als/cumf/settings.hpp"
#include "algorithms/als/cumf/split_side.hpp"
#include "algorithms/als/device_center.hpp"
#include "algorithms/core/cuda/device_communicator.hpp"
#include "algorithms/core/cuda/device_ratings.hpp"
#include "algorithms/core/cuda/rank_ratings.hpp"
#include "algorithms/core/cuda/upload.hpp"
#include "algorithms/core/model.hpp"

namespace mf::als {

enum class Which { users, items };  // whose rows are solved: X, or Theta

class DeviceSteps {
 public:
  // Makes both sides of R on the device, plans, and takes memory for the systems. What it is given
  // may end then.
  DeviceSteps(const AlsSettings& settings, cuda::DeviceRatings& ratings,
              const DeviceResidual& center, const Model& initial, Context& context,
              bool cg_through_l1 = false);
  // Of a rank; the devices must outlive it. All ranks together.
  DeviceSteps(const AlsSettings& settings, cuda::RankRatings& ratings, const DeviceResidual& center,
              const Model& initial, Context& context);
  // Of sides that are made; their offsets may end then.
  DeviceSteps(const AlsSettings& settings, SplitSides sides, const Model& initial, Context& context,
              bool cg_through_l1 = false);

  // For implicit feedback: values are weights w, and the systems from now on
  //   A_u = base + sum w theta theta^T + lambda n_u I,  b_u = sum (1 + w) theta.
  // `base` is a matrix in device memory, rows of a_pitch, zero beyond the factors; it may change
  // between calls of form().
  void set_weighted(const float* base) { base_ = base; }

  const std::vector<RowBatch>& batches(Which which) const { return side(which).plan.batches; }

  // One kernel (or a few) of one batch, in this order; queued on the stream.
  void form(Which which, const RowBatch& batch, HermitianPart part = HermitianPart::all);
  void bias(Which which, const RowBatch& batch);
  void solve(Which which, const RowBatch& batch);

  // All batches, with the phases "hermitian", "bias" and "solve". False: asked to stop.
  // Over ranks nobody is asked; all have the rows of all afterwards, after the phase "exchange".
  bool half_step(Which which, Context& context);
  cuda::DeviceCommunicator* devices() const { return devices_; }  // null: one rank

  float* factors(Which which) { return side(which).factors.data(); }
  std::int64_t stride() const { return row_stride(settings_.common.factors, sizeof(float)); }
  // Of the batch formed last.
  const void* systems_a() const { return a_.data(); }
  const float* systems_b() const { return b_.data(); }
  const float* systems_scale() const { return scale_.data(); }
  const std::int32_t* order(Which which) const { return side(which).plan.order.data(); }

  // Batches, rows of a batch and split rows, for the result's header.
  Json facts() const;

 private:
  struct DeviceSide {
    cuda::DeviceBuffer<std::int32_t> others;
    cuda::DeviceBuffer<float> values, factors;
    SidePlan plan;
    std::int64_t first_row = 0;  // that the plan's rows are counted from
    RowShards shards;            // over ranks
  };
  DeviceSide& side(Which which) { return which == Which::users ? users_ : items_; }
  const DeviceSide& side(Which which) const { return which == Which::users ? users_ : items_; }
  DeviceSide& other(Which which) { return which == Which::users ? items_ : users_; }

  void start(const Model& initial, cuda::Uploader& uploader);
  void plan(const SplitSides& sides, bool cg_through_l1);
  Capacity room_for(const RowOrder& users, const RowOrder& items, double nnz) const;
  void make_systems();
  void make_solver(bool cg_through_l1);
  void exchange(Which which);
  Systems systems(Which which, const RowBatch& batch);

  AlsSettings settings_;
  cudaStream_t stream_ = nullptr;
  const float* base_ = nullptr;
  DeviceSide users_, items_;
  cuda::DeviceBuffer<std::byte> a_;
  cuda::DeviceBuffer<float> scale_, parts_, b_, bias_parts_;
  std::unique_ptr<BatchSolver> solver_;
  cuda::DeviceCommunicator* devices_ = nullptr;
};

}  // namespace mf::als
