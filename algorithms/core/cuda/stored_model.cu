#include <algorithm>

#include "algorithms/core/cuda/convert_rows.hpp"
#include "algorithms/core/cuda/row_shape.hpp"
#include "algorithms/core/cuda/staging.hpp"
#include "algorithms/core/cuda/stored_model.hpp"

namespace mf::cuda {

StoredModel::StoredModel(Storage storage, const Model& initial, ThreadTeam& team,
                         cudaStream_t stream)
    : storage_(storage),
      n_users_(initial.n_users),
      n_items_(initial.n_items),
      factors_(initial.factors),
      mean_(initial.mean) {
  const std::int64_t wide = storage_stride(Storage::fp32, factors_);
  const std::int64_t stride = storage_stride(storage, factors_);
  const auto values = [](std::int64_t rows, std::int64_t width) {
    return static_cast<std::size_t>(rows * width);
  };
  p_wide_ = DeviceBuffer<float>(values(n_users_, wide));
  q_wide_ = DeviceBuffer<float>(values(n_items_, wide));
  p_ = DeviceBuffer<std::byte>(values(n_users_, stride * storage_bytes(storage)));
  q_ = DeviceBuffer<std::byte>(values(n_items_, stride * storage_bytes(storage)));
  Staging staging(std::max(p_wide_.bytes(), q_wide_.bytes()));
  upload_rows(staging, p_wide_, initial.p.data(), factors_, wide, team, stream);
  upload_rows(staging, q_wide_, initial.q.data(), factors_, wide, team, stream);
  with_storage_type(storage, [&]<class T>() {
    narrow_rows(p_wide_.data(), wide, reinterpret_cast<T*>(p_.data()), stride, n_users_, factors_,
                stream);
    narrow_rows(q_wide_.data(), wide, reinterpret_cast<T*>(q_.data()), stride, n_items_, factors_,
                stream);
  });
  if (initial.kind == ModelKind::biased) {
    user_bias_ = upload(View<const float>(initial.user_bias), stream);
    item_bias_ = upload(View<const float>(initial.item_bias), stream);
  }
}

FactorView StoredModel::view(cudaStream_t stream) {
  const std::int64_t wide = storage_stride(Storage::fp32, factors_);
  const std::int64_t stride = storage_stride(storage_, factors_);
  with_storage_type(storage_, [&]<class T>() {
    widen_rows(reinterpret_cast<const T*>(p_.data()), stride, p_wide_.data(), wide, n_users_,
               factors_, stream);
    widen_rows(reinterpret_cast<const T*>(q_.data()), stride, q_wide_.data(), wide, n_items_,
               factors_, stream);
  });
  FactorView view;
  view.location = Location::device;
  view.n_users = n_users_;
  view.n_items = n_items_;
  view.factors = factors_;
  view.p = p_wide_.data();
  view.q = q_wide_.data();
  view.p_stride = view.q_stride = wide;
  if (!user_bias_.empty()) {
    view.user_bias = user_bias_.data();
    view.item_bias = item_bias_.data();
    view.mean = mean_;
  }
  return view;
}

}  // namespace mf::cuda
