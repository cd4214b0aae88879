#include "algorithms/sgd_cpu/row_store.hpp"

#include <algorithm>

#include "algorithms/sgd_cpu/settings.hpp"

namespace mf::sgd_cpu {
namespace {

constexpr std::int64_t kRowsPerChunk = 1024;

std::int64_t source_of(View<const std::int32_t> order, std::int64_t row) {
  return order.empty() ? row : order[static_cast<std::size_t>(row)];
}

// Packed rows of `width` floats to rows `stride` apart, zero behind.
void gather_rows(HugeArray<float>& to, std::int64_t stride, const float* from, std::int64_t width,
                 std::int64_t count, View<const std::int32_t> order, ThreadTeam& team) {
  to = HugeArray<float>(count * stride);
  team.for_chunks(count, kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* out = to.data() + row * stride;
      std::copy_n(from + source_of(order, row) * width, width, out);
      std::fill(out + width, out + stride, 0.0F);
    }
  });
}

void scatter_rows(HugeArray<float>& to, const HugeArray<float>& from, std::int64_t stride,
                  std::int64_t count, View<const std::int32_t> order, ThreadTeam& team) {
  if (to.size() != count * stride) to = HugeArray<float>(count * stride);
  team.for_chunks(count, kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::copy_n(from.data() + row * stride, stride, to.data() + source_of(order, row) * stride);
    }
  });
}

}  // namespace

RowStore::RowStore(const Model& initial, View<const std::int32_t> user_of_row,
                   View<const std::int32_t> item_of_row, ThreadTeam& team)
    : n_users_(initial.n_users),
      n_items_(initial.n_items),
      factors_(initial.factors),
      stride_(row_stride(initial.factors)),
      biased_(initial.kind == ModelKind::biased),
      mean_(initial.mean) {
  gather_rows(p_, stride_, initial.p.data(), factors_, n_users_, user_of_row, team);
  gather_rows(q_, stride_, initial.q.data(), factors_, n_items_, item_of_row, team);
  if (!biased_) return;
  gather_rows(user_bias_, 1, initial.user_bias.data(), 1, n_users_, user_of_row, team);
  gather_rows(item_bias_, 1, initial.item_bias.data(), 1, n_items_, item_of_row, team);
}

Rows RowStore::rows() {
  return {p_.data(), q_.data(), user_bias_.data(), item_bias_.data(), stride_, factors_};
}

FactorView RowStore::view() const {
  FactorView view;
  view.n_users = n_users_;
  view.n_items = n_items_;
  view.factors = factors_;
  view.p = p_.data();
  view.q = q_.data();
  view.p_stride = stride_;
  view.q_stride = stride_;
  view.user_bias = user_bias_.data();
  view.item_bias = item_bias_.data();
  view.mean = biased_ ? mean_ : 0;
  return view;
}

void RowStore::unpermute_into(RowStore& to, View<const std::int32_t> user_of_row,
                              View<const std::int32_t> item_of_row, ThreadTeam& team) const {
  to.n_users_ = n_users_;
  to.n_items_ = n_items_;
  to.factors_ = factors_;
  to.stride_ = stride_;
  to.biased_ = biased_;
  to.mean_ = mean_;
  scatter_rows(to.p_, p_, stride_, n_users_, user_of_row, team);
  scatter_rows(to.q_, q_, stride_, n_items_, item_of_row, team);
  if (!biased_) return;
  scatter_rows(to.user_bias_, user_bias_, 1, n_users_, user_of_row, team);
  scatter_rows(to.item_bias_, item_bias_, 1, n_items_, item_of_row, team);
}

}  // namespace mf::sgd_cpu
