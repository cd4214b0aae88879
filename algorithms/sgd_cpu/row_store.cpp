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
AlignedVector<float> gather_rows(const AlignedVector<float>& from, std::int64_t width,
                                 std::int64_t stride, std::int64_t count, RowRange rows,
                                 View<const std::int32_t> order, ThreadTeam& team) {
  AlignedVector<float> to(count * stride);
  team.for_chunks(rows.size(), kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = rows.begin + begin; row < rows.begin + end; ++row) {
      float* out = to.data() + row * stride;
      std::copy_n(from.data() + source_of(order, row) * width, width, out);
      std::fill(out + width, out + stride, 0.0F);
    }
  });
  return to;
}

void scatter_rows(AlignedVector<float>& to, const AlignedVector<float>& from, std::int64_t stride,
                  View<const std::int32_t> order, ThreadTeam& team) {
  if (to.size() != from.size()) to = AlignedVector<float>(std::ssize(from));
  const std::int64_t count = std::ssize(from) / stride;
  team.for_each(count, kRowsPerChunk, [&](std::int64_t row) {
    std::copy_n(from.data() + row * stride, stride, to.data() + source_of(order, row) * stride);
  });
}

}  // namespace

RowStore::RowStore(const Model& initial, View<const std::int32_t> user_of_row,
                   View<const std::int32_t> item_of_row, RowRange users, RowRange items,
                   ThreadTeam& team)
    : shape_(initial), stride_(row_stride(initial.factors, sizeof(float), kLineBytes)) {
  const auto gather = [&](Side& to, const AlignedVector<float>& rows,
                          const AlignedVector<float>& bias, std::int64_t count, RowRange own,
                          View<const std::int32_t> order) {
    to.rows = gather_rows(rows, shape_.factors, stride_, count, own, order, team);
    if (shape_.biased()) to.bias = gather_rows(bias, 1, 1, count, own, order, team);
  };
  gather(users_, initial.p, initial.user_bias, shape_.n_users, users, user_of_row);
  gather(items_, initial.q, initial.item_bias, shape_.n_items, items, item_of_row);
}

std::vector<RowStore::Table> RowStore::tables(Side& side) const {
  std::vector<Table> tables = {{side.rows.data(), stride_}};
  if (shape_.biased()) tables.push_back({side.bias.data(), 1});
  return tables;
}

Rows RowStore::rows() {
  return {users_.rows.data(), items_.rows.data(), users_.bias.data(), items_.bias.data(), stride_,
          shape_.factors};
}

FactorView RowStore::view() const {
  return make_view(shape_, Location::host, users_.rows.data(), items_.rows.data(), stride_,
                   users_.bias.data(), items_.bias.data());
}

void RowStore::unpermute_into(RowStore& to, View<const std::int32_t> user_of_row,
                              View<const std::int32_t> item_of_row, ThreadTeam& team) const {
  to.shape_ = shape_;
  to.stride_ = stride_;
  scatter_rows(to.users_.rows, users_.rows, stride_, user_of_row, team);
  scatter_rows(to.items_.rows, items_.rows, stride_, item_of_row, team);
  scatter_rows(to.users_.bias, users_.bias, 1, user_of_row, team);
  scatter_rows(to.items_.bias, items_.bias, 1, item_of_row, team);
}

}  // namespace mf::sgd_cpu
