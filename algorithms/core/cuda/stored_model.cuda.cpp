#include "algorithms/core/cuda/stored_model.hpp"

#include "algorithms/core/cuda/convert_rows.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/cuda/ratings/row_shape.hpp"

namespace mf::cuda {

StoredModel::StoredModel(Storage storage, const Model& initial, Uploader& uploader)
    : storage_(storage), shape_(initial) {
  const std::int32_t f = initial.factors;
  const std::int64_t fp32_stride = storage_stride(Storage::fp32, f);
  p_wide_ = initial_rows<float>(initial, RowsOf::users, fp32_stride, uploader);
  q_wide_ = initial_rows<float>(initial, RowsOf::items, fp32_stride, uploader);
  if (initial.biased()) {
    user_bias_ = uploader.array(View<const float>(initial.user_bias));
    item_bias_ = uploader.array(View<const float>(initial.item_bias));
  }
  if (wide()) return;
  const std::int64_t stride = storage_stride(storage, f);
  p_ = DeviceBuffer<std::byte>(initial.n_users * stride * storage_bytes(storage));
  q_ = DeviceBuffer<std::byte>(initial.n_items * stride * storage_bytes(storage));
  with_storage_type(storage, [&]<class T>() {
    rows_from_fp32(p_wide_.data(), fp32_stride, reinterpret_cast<T*>(p_.data()), stride,
                   initial.n_users, f, uploader.stream());
    rows_from_fp32(q_wide_.data(), fp32_stride, reinterpret_cast<T*>(q_.data()), stride,
                   initial.n_items, f, uploader.stream());
  });
}

FactorView StoredModel::view(cudaStream_t stream) {
  const std::int64_t fp32_stride = storage_stride(Storage::fp32, shape_.factors);
  const std::int64_t stride = storage_stride(storage_, shape_.factors);
  if (!wide()) {
    with_storage_type(storage_, [&]<class T>() {
      rows_to_fp32(reinterpret_cast<const T*>(p_.data()), stride, p_wide_.data(), fp32_stride,
                   shape_.n_users, shape_.factors, stream);
      rows_to_fp32(reinterpret_cast<const T*>(q_.data()), stride, q_wide_.data(), fp32_stride,
                   shape_.n_items, shape_.factors, stream);
    });
  }
  return make_view(shape_, Location::device, p_wide_.data(), q_wide_.data(), fp32_stride,
                   user_bias_.data(), item_bias_.data());
}

}  // namespace mf::cuda
