// Both half-steps of `als` over several devices as in cuMF_ALS: each holds its own rows of the
// other side, forms its ratings' terms of A_u and b_u of all rows, batch after batch, and gets the
// others' terms of its own rows; it adds the parts and solves (reduce_plan.hpp). No factors travel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "algorithms/als/cumf/formed_side.hpp"
#include "algorithms/als/cumf/half_steps.hpp"
#include "algorithms/als/cumf/reduce_plan.hpp"
#include "algorithms/als/cumf/split_side.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/model.hpp"

namespace mf::als {

class ReducedSteps : public HalfSteps {
 public:
  // user_offsets: of all users over the ratings of all ranks. The devices must outlive it. All
  // ranks together.
  ReducedSteps(const AlsSettings& settings, View<const std::int64_t> user_offsets,
               cuda::RankRatings& ratings, const DeviceResidual& center, const Model& initial,
               Context& context);

  // Phases "hermitian", "bias", "exchange" (the parts of A and b), "solve" (also their sum).
  bool half_step(Which which, Context& context) override;
  void gather() override;
  float* factors(Which which) override { return side(which).factors.data(); }
  std::int64_t stride() const override { return factor_stride(settings_); }
  Json facts() const override;

 private:
  struct Side : FormedSide {  // all rows, with the ratings of this rank's share of the other side
    ReducePlan reduce;
    RowShards shards;
    RowRange held;  // rows of `factors`: its own, of rank 0 all
    cuda::DeviceBuffer<float> factors;
    // Its own rows that have ratings, batch after batch: their sums of K parts each, and their
    // numbers among its own.
    cuda::DeviceBuffer<SplitRow> sums;
    cuda::DeviceBuffer<std::int32_t> solved;
    std::vector<std::int64_t> first_solved;  // of a batch
  };
  Side& side(Which which) { return which == Which::users ? users_ : items_; }
  RowRange own(const Side& side) const { return side.shards.own(devices_->rank()); }
  // For this rank's rows, in its factors.
  float* own_factors(Side& side) const;

  void start(Side& side, Which which, View<const std::int64_t> offsets, const Model& initial,
             cuda::Uploader& uploader);
  void make_plans(View<const std::int64_t> user_offsets, View<const std::int64_t> item_offsets,
                  ReducedSides& ratings);
  ReduceRule rule_for(View<const std::int64_t> user_offsets,
                      View<const std::int64_t> item_offsets) const;
  void make_plan(Side& side, View<const std::int64_t> offsets, const std::int64_t* own_offsets,
                 const ReduceRule& rule);
  void make_buffers();

  void form(Which which, const RowBatch& batch);
  void bias(Which which, const RowBatch& batch);
  void exchange(Side& side, std::int64_t batch);
  template <class T>
  void exchange(Side& side, std::int64_t batch, const T* formed, T* received, std::int64_t values);
  void add_and_solve(Side& side, std::int64_t batch);

  AlsSettings settings_;
  cudaStream_t stream_;
  cuda::DeviceCommunicator* devices_;
  Side users_, items_;
  SystemBuffers formed_, received_;  // parts of a batch; each rank's parts of this rank's rows
  SystemBuffers systems_;            // to be solved
  PartBuffers parts_;
  std::unique_ptr<BatchSolver> solver_;
};

}  // namespace mf::als
