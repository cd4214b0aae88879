// Both half-steps of als_fused on the device: R, the factors, the tasks. algorithm.cuda.cpp
// makes an algorithm of it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/device_center.hpp"
#include "algorithms/als/fused/applied.hpp"
#include "algorithms/als/fused/kernels.hpp"
#include "algorithms/als/fused/scale.hpp"
#include "algorithms/als/fused/settings.hpp"
#include "algorithms/core/cuda/device_ratings.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/core/rows.hpp"

namespace mf::als {

class FusedSteps {
 public:
  FusedSteps() = default;
  // Makes both sides of R and the first factors on the device. Everything it is given may end then.
  // Throws Error(data) for ratings that are not finite.
  FusedSteps(const FusedSettings& settings, cuda::DeviceRatings& ratings,
             const DeviceResidual& center, const Model& initial, Context& context);

  // X from Theta; Theta from X. Queued on the stream.
  void update_x(cudaStream_t stream) { update(users_, items_, stream); }
  void update_theta(cudaStream_t stream) { update(items_, users_, stream); }

  // Rows of fp32 numbers, zero beyond the factors.
  std::int64_t stride() const { return row_stride(rule_.factors, sizeof(float)); }
  const float* x() const { return users_.factors.data(); }
  const float* theta() const { return items_.factors.data(); }

  // Tasks and parts of split rows of each side, the tasks of applied rows, the products and the
  // scale of the ratings, for the result's header.
  Json facts() const;

  // For tests: what update_x launches.
  FusedSide users_side() { return arguments(users_, items_); }
  const FusedRule& rule() const { return rule_; }
  // For benchmarks: CG steps of the next updates, 0 or more.
  void set_steps(std::int32_t steps) { rule_.steps = steps; }

 private:
  struct DeviceSide {
    std::int32_t slots = 0;
    cuda::DeviceBuffer<FusedTask> tasks;  // of formed rows, then of applied ones
    AppliedTasks applied;
    cuda::DeviceBuffer<FusedEntry> entries;
    cuda::DeviceBuffer<float> factors;
    cuda::DeviceBuffer<__half> high, low;
    NarrowRows narrow() { return {high.data(), low.data()}; }
  };
  DeviceSide make_side(const cuda::RatingsOfRows& rows, cuda::RowsOf which,
                       const DeviceResidual& center, cudaStream_t stream) const;
  void start(DeviceSide& side, cuda::RowsOf which, const Model& initial,
             cuda::Uploader& uploader) const;
  std::int64_t applied_up_to() const;
  FusedSide arguments(DeviceSide& to, DeviceSide& from);
  void update(DeviceSide& to, DeviceSide& from, cudaStream_t stream);

  FusedSettings settings_;
  FusedScale scale_;
  FusedRule rule_;
  AppliedLimits limits_;
  DeviceSide users_, items_;
  cuda::DeviceBuffer<float> scratch_;
  cuda::DeviceBuffer<std::uint32_t> arrived_, next_;
};

}  // namespace mf::als
