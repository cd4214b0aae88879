// The center on the device, and the model that it makes of factors there, which the steps of als
// and als_fused own. (core's DeviceModel owns its factors and has the biases of its start.)
#pragma once

#include <cuda_runtime_api.h>

#include "algorithms/als/center.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/ratings/rank_ratings.hpp"
#include "algorithms/core/cuda/ratings/streamed_ratings.hpp"
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
  // `plain` is the shape of only the factors. The center equals that of make_center(), except for
  // the order of sums in fp64.
  DeviceCenter(const ModelShape& plain, CenterKind kind, RowReg reg, cuda::DeviceRatings& ratings,
               cudaStream_t stream);

  // In two passes over the bus for each sweep of the biases.
  DeviceCenter(const ModelShape& plain, CenterKind kind, RowReg reg, cuda::StreamedRatings& ratings,
               cudaStream_t stream);

  // For the ratings of all ranks; each has the biases of all rows.
  DeviceCenter(const ModelShape& plain, CenterKind kind, RowReg reg, cuda::RankRatings& ratings,
               cudaStream_t stream);

  // The center to subtract before the first epoch. If biases are solved, it is only the mean.
  DeviceResidual residual() const;

  // For `center: solved`, before the rows of one side are solved. change(old, now) adds old[other]
  // - now[other] to their ratings, so the other side's latest biases are subtracted. In the column
  // after the factors, the other side's rows get 1 and the own rows get their latest biases.
  // Queued.
  template <class Change>
  void put_biases(bool of_users, float* own, float* others, std::int64_t stride,
                  cudaStream_t stream, const Change& change) {
    const cuda::DeviceBuffer<float>& now = of_users ? item_bias_ : user_bias_;
    cuda::DeviceBuffer<float>& old = of_users ? removed_item_bias_ : removed_user_bias_;
    change(old.data(), now.data());
    MF_CUDA(cudaMemcpyAsync(old.data(), now.data(), now.bytes(), cudaMemcpyDeviceToDevice, stream));
    move_biases(!of_users, BiasMove::put_ones, others, stride, stream);
    move_biases(of_users, BiasMove::put, own, stride, stream);
  }
  // Afterwards: keeps the solved biases of the rows.
  void take_biases(bool of_users, float* rows, std::int64_t stride, cudaStream_t stream) {
    move_biases(of_users, BiasMove::take, rows, stride, stream);
  }

  // x and theta: rows `stride` numbers apart, in device memory.
  FactorView view(const float* x, const float* theta, std::int64_t stride) const {
    return make_view(shape_, Location::device, x, theta, stride, user_bias_.data(),
                     item_bias_.data());
  }

 private:
  void start_biases(CenterKind kind, cudaStream_t stream);  // with zeros
  enum class BiasMove { put_ones, put, take };
  void move_biases(bool of_users, BiasMove move, float* rows, std::int64_t stride,
                   cudaStream_t stream);

  ModelShape shape_;
  cuda::DeviceBuffer<float> user_bias_, item_bias_;  // empty: the plain model
  // The solved biases that have been subtracted from the ratings. Empty for other centers.
  cuda::DeviceBuffer<float> removed_user_bias_, removed_item_bias_;
};

}  // namespace mf::als
