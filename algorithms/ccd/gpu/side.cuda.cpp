#include "algorithms/ccd/gpu/side.hpp"

#include <utility>

#include "algorithms/ccd/gpu/device_layout.hpp"
#include "algorithms/core/rows.hpp"

namespace mf::ccd {
namespace {

// Whole cache lines, and at least one number more than rows: the zero of padding.
std::int64_t vector_stride(std::int64_t rows) { return row_stride(rows + 1, 4, 128); }

}  // namespace

DeviceSide::DeviceSide(const Settings& settings, const cuda::RatingsOfRows& rows,
                       std::int64_t n_others, int tables, cudaStream_t stream)
    : factors_(settings.factors), rows_(rows.rows), stride_(vector_stride(rows.rows)) {
  const std::int64_t widest = widest_tile(tables);
  const DeviceLayout layout = make_device_layout(rows, n_others, widest, stream);
  tiles_ = layout.tiles;
  const bool shared = layout.tile_width <= widest;
  const PassGrid grid = pass_grid(shared);
  const Pieces cut = cut_pieces(View<const std::int64_t>(layout.tile_begins), grid.blocks);
  pieces_ = cuda::upload(View<const Piece>(cut.pieces), stream);
  of_block_ = cuda::upload(View<const std::int32_t>(cut.of_block), stream);
  tasks_ = make_stream_tasks(layout, pieces_, grid.warps, stream);
  const std::int64_t size = layout.size();
  padding_ = size > 0 ? 1 - static_cast<double>(rows.nnz) / static_cast<double>(size) : 0;
  const auto tasks = static_cast<std::int64_t>(tasks_.tasks.size());
  by_warp_ = tasks > kSlotsOfThread * rows_;

  residual_ = cuda::DeviceBuffer<float>(size);
  const auto fill = [&]<class Index>(cuda::DeviceBuffer<Index>& to) {
    to = cuda::DeviceBuffer<Index>(size);
    fill_layout(layout, rows, to.data(), residual_.data(), stream);
  };
  shared ? fill(narrow_) : fill(wide_);
  shrink_ = cuda::DeviceBuffer<float>(rows_);
  fill_shrink(rows.offsets, rows_, settings.reg, settings.reg_scale == RegScale::rows,
              shrink_.data(), stream);
  sums_ = cuda::DeviceBuffer<float2>(tasks);
  const void* indices = shared ? static_cast<const void*>(narrow_.data()) : wide_.data();
  view_ = {tasks_.heads.data(),
           tasks_.before.data(),
           tasks_.tasks.data(),
           pieces_.data(),
           of_block_.data(),
           tasks == 0 ? 0U : static_cast<unsigned>(grid.blocks),
           indices,
           residual_.data(),
           sums_.data(),
           n_others,
           layout.tile_width,
           shared};
}

void DeviceSide::start(cuda::DeviceBuffer<float> packed, cudaStream_t stream) {
  packed_ = std::move(packed);
  vectors_ = cuda::zeros<float>(factors_ * stride_, stream);
  zeros_ = cuda::zeros<float>(stride_, stream);
  old_ = cuda::zeros<float>(stride_, stream);
  launch_transpose(packed_.data(), row_stride(factors_, sizeof(float)), vectors_.data(), stride_,
                   rows_, factors_, stream);
}

void DeviceSide::subtract(const DeviceSide& other, cudaStream_t stream) {
  launch_subtract(
      view_, {packed_.data(), other.packed_.data(), row_stride(factors_, sizeof(float))}, stream);
}

void DeviceSide::exchange(int k, int held, const Other& other, cudaStream_t stream) {
  launch_exchange(view_, {other.held, other.old, other.now, vector(held), vector(k), 1.0F}, stream);
  finish(k, stream);
}

void DeviceSide::solve(int k, const float* now, cudaStream_t stream) {
  launch_sums(view_, {nullptr, nullptr, now, nullptr, nullptr, 1.0F}, stream);
  finish(k, stream);
}

void DeviceSide::change(int k, float sign, const float* other, cudaStream_t stream) {
  launch_change(view_, {nullptr, other, nullptr, nullptr, vector(k), sign}, stream);
}

void DeviceSide::finish(int k, cudaStream_t stream) {
  launch_finish({sums_.data(), tasks_.slots.data(), shrink_.data(), vectors_.data() + k * stride_,
                 old_.data(), rows_, by_warp_},
                stream);
}

const float* DeviceSide::pack(cudaStream_t stream) {
  launch_transpose(vectors_.data(), stride_, packed_.data(), row_stride(factors_, sizeof(float)),
                   factors_, rows_, stream);
  return packed_.data();
}

void DeviceSide::warm_up(const Other& other, cudaStream_t stream) {
  // With vectors of zeros: R stays, and the sums are ignored.
  launch_exchange(view_, {other.held, other.old, other.now, zeros_.data(), zeros_.data(), 1.0F},
                  stream);
  launch_sums(view_, {nullptr, nullptr, other.now, nullptr, nullptr, 1.0F}, stream);
  launch_change(view_, {nullptr, other.old, nullptr, nullptr, zeros_.data(), 1.0F}, stream);
  launch_finish({sums_.data(), tasks_.slots.data(), shrink_.data(), old_.data(), old_.data(), rows_,
                 by_warp_},
                stream);
}

}  // namespace mf::ccd
