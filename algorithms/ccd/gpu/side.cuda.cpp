#include "algorithms/ccd/gpu/side.hpp"

#include "algorithms/core/rows.hpp"

namespace mf::ccd {
namespace {

// Whole cache lines, and at least one number more than rows: the zero of padding.
std::int64_t vector_stride(std::int64_t rows) { return row_stride(rows + 1, 4, 128); }

}  // namespace

DeviceSide::DeviceSide(const Settings& settings, const SideRows& rows, View<const float> values,
                       const AlignedVector<float>& packed, int tables, cuda::Uploader& uploader)
    : factors_(settings.factors), rows_(rows.rows()), stride_(vector_stride(rows.rows())) {
  Layout layout = make_layout(rows, {widest_tile(tables), kQuad, kTaskUnits}, uploader.team());
  order_tasks(layout);
  tiles_ = layout.tiles;
  const bool shared = layout.tile_width <= layout.rule.widest;
  const Pieces pieces = cut_pieces(layout, pass_blocks(shared));
  const std::int64_t size = layout.size();
  padding_ = size > 0 ? 1 - static_cast<double>(rows.nnz()) / static_cast<double>(size) : 0;
  by_warp_ = std::ssize(layout.tasks) > kSlotsOfThread * rows_;

  const auto local = [&](std::int64_t, std::int64_t tile, std::int64_t source) {
    return rows.others[source] - tile * layout.tile_width;
  };
  const auto upload_indices = [&]<class Index>(cuda::DeviceBuffer<Index>& to) {
    to = uploader.filled<Index>(size, [&](std::int64_t begin, std::int64_t end, Index* out) {
      layout.fill<Index>(begin, end, out, static_cast<Index>(layout.tile_width), local);
    });
  };
  shared ? upload_indices(narrow_) : upload_indices(wide_);
  residual_ = uploader.filled<float>(size, [&](std::int64_t begin, std::int64_t end, float* out) {
    layout.fill<float>(begin, end, out, 0.0F, [&](std::int64_t, std::int64_t, std::int64_t source) {
      return values[source];
    });
  });
  tasks_ = uploader.array(View<const Task>(layout.tasks));
  pieces_ = uploader.array(View<const Piece>(pieces.pieces));
  of_block_ = uploader.array(View<const std::int32_t>(pieces.of_block));
  slots_ = uploader.array(View<const std::uint32_t>(layout.slots));
  shrink_ = uploader.filled<float>(rows_, [&](std::int64_t begin, std::int64_t end, float* out) {
    for (std::int64_t row = begin; row < end; ++row) {
      *out++ = settings.shrink(rows.offsets[row + 1] - rows.offsets[row]);
    }
  });
  sums_ = cuda::DeviceBuffer<float2>(std::ssize(layout.tasks));
  const std::int64_t packed_stride = row_stride(factors_, sizeof(float));
  packed_ = uploader.rows(View<const float>(packed), factors_, packed_stride);
  vectors_ = cuda::zeros<float>(factors_ * stride_, uploader.stream());
  zeros_ = cuda::zeros<float>(stride_, uploader.stream());
  old_ = cuda::zeros<float>(stride_, uploader.stream());
  launch_transpose(packed_.data(), packed_stride, vectors_.data(), stride_, rows_, factors_,
                   uploader.stream());
  const void* indices = shared ? static_cast<const void*>(narrow_.data()) : wide_.data();
  const bool none = layout.tasks.empty();
  view_ = {tasks_.data(),     pieces_.data(),
           of_block_.data(),  none ? 0U : static_cast<unsigned>(pieces.of_block.size() - 1),
           indices,           residual_.data(),
           sums_.data(),      rows.n_others,
           layout.tile_width, shared};
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
  launch_finish({sums_.data(), slots_.data(), shrink_.data(), vectors_.data() + k * stride_,
                 old_.data(), rows_, by_warp_},
                stream);
}

const float* DeviceSide::pack(cudaStream_t stream) {
  launch_transpose(vectors_.data(), stride_, packed_.data(), row_stride(factors_, sizeof(float)),
                   factors_, rows_, stream);
  return packed_.data();
}

void DeviceSide::warm_up(const Other& other, cudaStream_t stream) {
  // With vectors of zeros: R stays, and what is summed is not looked at.
  launch_exchange(view_, {other.held, other.old, other.now, zeros_.data(), zeros_.data(), 1.0F},
                  stream);
  launch_sums(view_, {nullptr, nullptr, other.now, nullptr, nullptr, 1.0F}, stream);
  launch_change(view_, {nullptr, other.old, nullptr, nullptr, zeros_.data(), 1.0F}, stream);
  launch_finish(
      {sums_.data(), slots_.data(), shrink_.data(), old_.data(), old_.data(), rows_, by_warp_},
      stream);
}

}  // namespace mf::ccd
