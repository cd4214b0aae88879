#include "algorithms/sgd_cpu/row_store.hpp"

#include <algorithm>

#include "algorithms/core/rows.hpp"

namespace mf::sgd_cpu {
namespace {

constexpr std::int64_t kRowsPerChunk = 1024;

std::int64_t source_of(View<const std::int32_t> order, std::int64_t row) {
  return order.empty() ? row : order[row];
}

// Packed rows of `width` floats to rows `stride` apart, zero behind; the given ones of `count`.
void gather_rows(HugeArray<float>& to, std::int64_t stride, const float* from, std::int64_t width,
                 std::int64_t count, RowRange rows, View<const std::int32_t> order,
                 ThreadTeam& team) {
  to = HugeArray<float>(count * stride);
  team.for_chunks(rows.size(), kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = rows.begin + begin; row < rows.begin + end; ++row) {
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
    : RowStore(initial, user_of_row, item_of_row, {0, initial.n_users}, {0, initial.n_items},
               team) {}

RowStore::RowStore(const Model& initial, View<const std::int32_t> user_of_row,
                   View<const std::int32_t> item_of_row, RowRange users, RowRange items,
                   ThreadTeam& team)
    : shape_(initial), stride_(row_stride(initial.factors, sizeof(float), kLineBytes)) {
  const auto copy_users = [&](HugeArray<float>& to, std::int64_t stride, const float* from,
                              std::int64_t width) {
    gather_rows(to, stride, from, width, shape_.n_users, users, user_of_row, team);
  };
  const auto copy_items = [&](HugeArray<float>& to, std::int64_t stride, const float* from,
                              std::int64_t width) {
    gather_rows(to, stride, from, width, shape_.n_items, items, item_of_row, team);
  };
  copy_users(p_, stride_, initial.p.data(), shape_.factors);
  copy_items(q_, stride_, initial.q.data(), shape_.factors);
  if (!shape_.biased()) return;
  copy_users(user_bias_, 1, initial.user_bias.data(), 1);
  copy_items(item_bias_, 1, initial.item_bias.data(), 1);
}

std::vector<RowStore::Table> RowStore::user_tables() {
  std::vector<Table> tables = {{p_.data(), stride_}};
  if (shape_.biased()) tables.push_back({user_bias_.data(), 1});
  return tables;
}

std::vector<RowStore::Table> RowStore::item_tables() {
  std::vector<Table> tables = {{q_.data(), stride_}};
  if (shape_.biased()) tables.push_back({item_bias_.data(), 1});
  return tables;
}

Rows RowStore::rows() {
  return {p_.data(), q_.data(), user_bias_.data(), item_bias_.data(), stride_, shape_.factors};
}

FactorView RowStore::view() const {
  return make_view(shape_, Location::host, p_.data(), q_.data(), stride_, user_bias_.data(),
                   item_bias_.data());
}

void RowStore::unpermute_into(RowStore& to, View<const std::int32_t> user_of_row,
                              View<const std::int32_t> item_of_row, ThreadTeam& team) const {
  to.shape_ = shape_;
  to.stride_ = stride_;
  scatter_rows(to.p_, p_, stride_, shape_.n_users, user_of_row, team);
  scatter_rows(to.q_, q_, stride_, shape_.n_items, item_of_row, team);
  if (!shape_.biased()) return;
  scatter_rows(to.user_bias_, user_bias_, 1, shape_.n_users, user_of_row, team);
  scatter_rows(to.item_bias_, item_bias_, 1, shape_.n_items, item_of_row, team);
}

}  // namespace mf::sgd_cpu
