// Both half-steps of `als` on the device: R, the factors and a batch of systems, and the kernels in
// order. algorithm.cuda.cpp makes an algorithm of it; tests and benchmarks take single kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/als/cumf/formed_side.hpp"
#include "algorithms/als/cumf/half_steps.hpp"
#include "algorithms/als/cumf/split_side.hpp"
#include "algorithms/als/device_center.hpp"
#include "algorithms/core/cuda/ranks/device_communicator.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/ratings/rank_ratings.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/model.hpp"

namespace mf::als {

class DeviceSteps : public HalfSteps {
 public:
  // Makes both sides of R on the device, plans, and takes memory for the systems. Its arguments may
  // end then.
  DeviceSteps(const AlsSettings& settings, cuda::DeviceRatings& ratings,
              const DeviceResidual& center, const Model& initial, Context& context,
              bool cg_through_l1 = false);
  // For a rank; the devices must outlive it. All ranks together.
  DeviceSteps(const AlsSettings& settings, cuda::RankRatings& ratings, const DeviceResidual& center,
              const Model& initial, Context& context);
  // For sides that are made; their offsets may end then.
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

  void solve_biases(DeviceCenter& center) override { biases_ = &center; }
  // All batches, with the phases "hermitian", "bias" and "solve". False: asked to stop.
  // Over ranks it is not asked; all have the rows of all afterwards, after the phase "exchange".
  bool half_step(Which which, Context& context) override;

  float* factors(Which which) override { return side(which).factors.data(); }
  std::int64_t stride() const override { return factor_stride(settings_); }
  // For the batch formed last.
  const void* systems_a() const { return systems_.a.data(); }
  const float* systems_b() const { return systems_.b.data(); }
  const float* systems_scale() const { return systems_.scale.data(); }
  const std::int32_t* order(Which which) const { return side(which).plan.order.data(); }

  // Batches, rows of a batch and split rows, for the result's header.
  Json facts() const override;

 private:
  struct DeviceSide : FormedSide {
    cuda::DeviceBuffer<float> factors;
    std::int64_t first_row = 0;  // that the plan's rows are counted from
    RowShards shards;            // over ranks
  };
  DeviceSide& side(Which which) { return which == Which::users ? users_ : items_; }
  const DeviceSide& side(Which which) const { return which == Which::users ? users_ : items_; }

  void start(const Model& initial, cuda::Uploader& uploader);
  void plan(const SplitSides& sides, bool cg_through_l1);
  Capacity room_for(const RowOrder& users, const RowOrder& items, double nnz) const;
  void put_biases(Which which);
  void exchange(Which which);

  AlsSettings settings_;
  cudaStream_t stream_ = nullptr;
  const float* base_ = nullptr;
  DeviceCenter* biases_ = nullptr;  // null unless solved
  DeviceSide users_, items_;
  SystemBuffers systems_;
  PartBuffers parts_;
  std::unique_ptr<BatchSolver> solver_;
  cuda::DeviceCommunicator* devices_ = nullptr;
};

}  // namespace mf::als
