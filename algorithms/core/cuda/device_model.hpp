// A model on the device in fp32 or fp64. (stored_model.hpp has the narrow types.)
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include "algorithms/core/cuda/convert_rows.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/core/rows.hpp"

namespace mf::cuda {

// Real is float or double. Rows are `stride` numbers apart, 16-byte aligned, zero beyond the
// factors.
template <class Real>
class DeviceModel {
 public:
  DeviceModel() = default;
  DeviceModel(const Model& initial, Uploader& uploader) : shape_(initial) {
    p_ = initial_rows<Real>(initial, RowsOf::users, stride(), uploader);
    q_ = initial_rows<Real>(initial, RowsOf::items, stride(), uploader);
    if (!initial.biased()) return;
    user_bias_ = uploader.rows<Real>(View<const float>(initial.user_bias), 1, 1);
    item_bias_ = uploader.rows<Real>(View<const float>(initial.item_bias), 1, 1);
  }

  const ModelShape& shape() const { return shape_; }
  std::int64_t stride() const { return row_stride(shape_.factors, sizeof(Real)); }
  Real* p() { return p_.data(); }
  Real* q() { return q_.data(); }
  Real* user_bias() { return user_bias_.data(); }  // null for the plain model
  Real* item_bias() { return item_bias_.data(); }

  // For fp64 a rounded copy, whose making is queued on the stream.
  FactorView view(cudaStream_t stream) {
    return make_view(
        shape_, Location::device, shown(p_, p_copy_, stream), shown(q_, q_copy_, stream), stride(),
        shown(user_bias_, user_bias_copy_, stream), shown(item_bias_, item_bias_copy_, stream));
  }

 private:
  static const float* shown(const DeviceBuffer<Real>& own, DeviceBuffer<float>& copy,
                            cudaStream_t stream) {
    if constexpr (std::is_same_v<Real, float>) {
      return own.data();
    } else {
      const auto count = static_cast<std::int64_t>(own.size());
      if (copy.size() != own.size()) copy = DeviceBuffer<float>(count);
      rows_to_fp32(own.data(), 1, copy.data(), 1, count, 1, stream);
      return copy.data();
    }
  }

  ModelShape shape_;
  DeviceBuffer<Real> p_, q_, user_bias_, item_bias_;
  DeviceBuffer<float> p_copy_, q_copy_, user_bias_copy_, item_bias_copy_;  // of fp64
};

}  // namespace mf::cuda
