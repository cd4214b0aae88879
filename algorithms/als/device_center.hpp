// The center on the device, and the model that it makes of factors there, which the steps of als
// and als_fused own. (core's DeviceModel owns its factors, and has the biases of where it starts.)
#pragma once

#include "algorithms/als/center.hpp"
#include "algorithms/core/cuda/upload.hpp"

namespace mf::als {

class DeviceCenter {
 public:
  DeviceCenter() = default;
  // `plain`: of the factors alone.
  DeviceCenter(const ModelShape& plain, const Center& center, cuda::Uploader& uploader)
      : shape_(with_center(plain, center)),
        user_bias_(uploader.array(View<const float>(center.user_bias))),
        item_bias_(uploader.array(View<const float>(center.item_bias))) {}

  // x and theta: rows `stride` numbers apart, in device memory.
  FactorView view(const float* x, const float* theta, std::int64_t stride) const {
    return make_view(shape_, Location::device, x, theta, stride, user_bias_.data(),
                     item_bias_.data());
  }

 private:
  ModelShape shape_;
  cuda::DeviceBuffer<float> user_bias_, item_bias_;  // empty: the plain model
};

}  // namespace mf::als
