// The center on the device, and the model that it makes of factors there, which the steps of als
// and als_fused own. (core's DeviceModel owns its factors and has the biases of its start.)
#pragma once

#include <cuda_runtime_api.h>

#include "algorithms/als/center.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/ratings/rank_ratings.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"

namespace mf::als {

// Center::residual of a rating, on the device. Biases are null without any.
struct DeviceResidual {
  float mean = 0;
  const float* user_bias = nullptr;
  const float* item_bias = nullptr;

  // For rows numbered from user `user`, or item `item`.
  DeviceResidual from(std::int64_t user, std::int64_t item) const {
    if (user_bias == nullptr) return *this;
    return {mean, user_bias + user, item_bias + item};
  }
};

class DeviceCenter {
 public:
  DeviceCenter() = default;
  // `plain`: only of the factors.
  DeviceCenter(const ModelShape& plain, const Center& center, cuda::Uploader& uploader)
      : shape_(with_center(plain, center)),
        user_bias_(uploader.array(View<const float>(center.user_bias))),
        item_bias_(uploader.array(View<const float>(center.item_bias))) {}
  // Made there as by make_center(), except for the order of sums in fp64.
  DeviceCenter(const ModelShape& plain, CenterKind kind, RowReg reg, cuda::DeviceRatings& ratings,
               cudaStream_t stream);

  // For the ratings of all ranks; each has the biases of all rows.
  DeviceCenter(const ModelShape& plain, CenterKind kind, RowReg reg, cuda::RankRatings& ratings,
               cudaStream_t stream);

  DeviceResidual residual() const;

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
