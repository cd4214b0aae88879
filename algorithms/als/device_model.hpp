// What the models of als and als_fused have on the device beside the factors, which the steps own.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/center.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/model.hpp"
#include "base/view.hpp"

namespace mf::als {

class DeviceModel {
 public:
  DeviceModel() = default;
  explicit DeviceModel(const Model& sizes)
      : n_users_(sizes.n_users), n_items_(sizes.n_items), factors_(sizes.factors) {}

  // Without it, or with CenterKind::none, the model is the plain one.
  void upload(const Center& center, cudaStream_t stream) {
    mean_ = center.mean;
    user_bias_ = cuda::upload(View<const float>(center.user_bias), stream);
    item_bias_ = cuda::upload(View<const float>(center.item_bias), stream);
  }

  // x and theta: rows of `factors` numbers, `stride` apart, in device memory.
  FactorView view(const float* x, const float* theta, std::int64_t stride) const {
    FactorView view;
    view.location = Location::device;
    view.n_users = n_users_;
    view.n_items = n_items_;
    view.factors = factors_;
    view.p = x;
    view.q = theta;
    view.p_stride = view.q_stride = stride;
    view.user_bias = user_bias_.data();
    view.item_bias = item_bias_.data();
    view.mean = mean_;
    return view;
  }

 private:
  std::int32_t n_users_ = 0;
  std::int32_t n_items_ = 0;
  std::int32_t factors_ = 0;
  double mean_ = 0;
  cuda::DeviceBuffer<float> user_bias_, item_bias_;  // empty: the plain model
};

}  // namespace mf::als
