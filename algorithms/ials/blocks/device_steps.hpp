// Both half-steps of `ials_pp` on the device. Benchmarks take single half-steps.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/cumf/device_plan.hpp"
#include "algorithms/als/cumf/half_steps.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/ials/blocks/settings.hpp"
#include "algorithms/ials/device_gram.hpp"
#include "algorithms/ials/device_side.hpp"

namespace mf::ials {

using als::HalfSteps;
using als::Which;

class BlockSteps : public HalfSteps {
 public:
  // Makes both sides and plans on the device, and releases the pairs. Rows without pairs are zero
  // from here on.
  BlockSteps(const IalsPpSettings& settings, DevicePairs& pairs, const Model& initial,
             Context& context);

  // All blocks of the rows, with the phases "gram", "predict", "gradient" and "solve".
  bool half_step(Which which, Context& context) override;

  float* factors(Which which) override { return side(which).data.factors.data(); }
  std::int64_t stride() const override {
    return row_stride(settings_.common.factors, sizeof(float));
  }
  Json facts() const override;

 private:
  struct Side {
    DeviceSide data;
    cuda::DeviceBuffer<float> regs;  // l of each row
    als::SidePlan plan;              // one batch; its b buffers are for predictions
  };
  struct Block {
    std::int32_t first, count;
  };
  Side& side(Which which) { return which == Which::users ? users_ : items_; }

  Side make_side(const cuda::RatingsOfRows& pairs, double alpha, std::int64_t others) const;
  Block block(std::int32_t number) const;
  void predict(const Side& now, const Side& other, const Block& block, const float* v,
               std::int64_t v_stride);
  void solve(Side& now, const Side& other, const Block& block);

  IalsPpSettings settings_;
  cudaStream_t stream_;
  std::int64_t step_stride_;
  Side users_, items_;
  DeviceGram gram_;
  cuda::DeviceBuffer<float> predictions_;  // of the pairs of the side that is solved
  cuda::DeviceBuffer<float> step_;         // of all its rows, for one block
  cuda::DeviceBuffer<float> parts_;
};

}  // namespace mf::ials
