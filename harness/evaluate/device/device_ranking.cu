#include <algorithm>
#include <vector>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "harness/evaluate/device/cublas.hpp"
#include "harness/evaluate/device/device_quality.hpp"
#include "harness/evaluate/device/top_items.cuh"

namespace mf {
namespace {

using cuda::DeviceBuffer;
using cuda::PinnedBuffer;

constexpr int kGatherThreads = 256;

static_assert(sizeof(Hits) == (kRanks + 31) / 32 * sizeof(std::uint32_t));

struct GatherArgs {
  const float* p = nullptr;
  std::int64_t p_stride = 0;
  const float* folded = nullptr;
  std::int32_t factors = 0;
  const std::int32_t* rows = nullptr;  // place of each: RankedRow
  const float* extra = nullptr;        // the last column, or null for none
  std::int64_t count = 0;
};

// Packed rows of factors + (extra ? 1 : 0) numbers.
__global__ void __launch_bounds__(kGatherThreads)
    gather_rows(const __grid_constant__ GatherArgs args, float* __restrict__ to) {
  const std::int64_t width = args.factors + (args.extra == nullptr ? 0 : 1);
  const std::int64_t all = args.count * width;
  const std::int64_t grid = std::int64_t{gridDim.x} * kGatherThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kGatherThreads + threadIdx.x; i < all;
       i += grid) {
    const std::int64_t r = i / width;
    const std::int64_t k = i % width;
    const std::int32_t row = args.rows[r];
    float value = 0;
    if (k == args.factors) {
      value = args.extra[r];
    } else if (row >= 0) {
      value = args.p[row * args.p_stride + k];
    } else if (row != RankedRow::kNone) {
      value = args.folded[std::int64_t{RankedRow::slot_of(row)} * args.factors + k];
    }
    to[i] = value;
  }
}

}  // namespace

struct DeviceRanking::Impl {
  CublasHandle cublas;
  std::int64_t count = 0;
  DeviceBuffer<std::int32_t> rows;
  DeviceBuffer<float> extra;
  DeviceBuffer<std::int64_t> seen_offsets, held_out_offsets;
  DeviceBuffer<std::int32_t> seen, held_out;
  DeviceBuffer<Hits> hits;
  PinnedBuffer<Hits> hits_host;
  DeviceBuffer<TieKey> tie_keys;
  DeviceBuffer<std::uint8_t> tied;
  DeviceBuffer<int> not_finite;
  DeviceBuffer<std::int32_t> top;
  DeviceBuffer<float> tile, folded, items, scores;

  SelectArgs select_args(std::int32_t n_items, bool with_top) {
    SelectArgs args;
    args.row_stride = n_items;
    args.n_items = n_items;
    args.seen_offsets = seen_offsets.data();
    args.seen = seen.data();
    args.held_out_offsets = held_out_offsets.data();
    args.held_out = held_out.data();
    args.tie_keys = tie_keys.data();
    args.hits = hits.data();
    args.tied = tied.data();
    args.not_finite = not_finite.data();
    if (with_top && top.empty()) top = DeviceBuffer<std::int32_t>(count * kRanks);
    args.top = with_top ? top.data() : nullptr;
    return args;
  }

  void begin(cudaStream_t stream) {
    MF_CUDA(cudaMemsetAsync(not_finite.data(), 0, sizeof(int), stream));
  }

  void launch_select(SelectArgs args, std::int64_t first, std::int64_t now, cudaStream_t stream) {
    args.scores = reinterpret_cast<std::uint32_t*>(scores.data());
    args.first_user = first;
    select_top<<<static_cast<unsigned>(now), kSelectThreads, 0, stream>>>(args);
    MF_CUDA_LAUNCHED("select_top");
  }

  RankedItems finish(cudaStream_t stream, AlignedVector<std::int32_t>* list) {
    RankedItems out;
    int flag = 0;
    cuda::download(hits_host.view(), hits.data(), stream);
    cuda::download(View<int>(&flag, 1), not_finite.data(), stream);
    out.hits.assign(hits_host.view().begin(), hits_host.view().end());
    out.tied.resize(count);
    cuda::download(View<std::uint8_t>(out.tied), tied.data(), stream);
    out.finite = flag == 0;
    if (list != nullptr) {
      list->resize(count * kRanks);
      cuda::download(View<std::int32_t>(*list), top.data(), stream);
    }
    return out;
  }

  // A buffer that is too small goes before the larger comes.
  static void reserve(DeviceBuffer<float>& buffer, std::int64_t floats) {
    if (std::ssize(buffer) >= floats) return;
    buffer.reset();
    buffer = DeviceBuffer<float>(floats);
  }

  static void renew(DeviceBuffer<float>& buffer, View<const float> from, cudaStream_t stream) {
    reserve(buffer, from.size());
    cuda::copy_to_device(buffer, from, stream);
  }

  // Column i of cuBLAS's matrices is row i of ours.
  void multiply(const float* item_rows, std::int64_t item_stride, std::int32_t n_items,
                std::int32_t width, std::int64_t now, cudaStream_t stream) {
    const float one = 1;
    const float zero = 0;
    MF_CUBLAS(cublasSgemm(cublas.on(stream), CUBLAS_OP_T, CUBLAS_OP_N, n_items,
                          static_cast<int>(now), width, &one, item_rows,
                          static_cast<int>(item_stride), tile.data(), width, &zero, scores.data(),
                          n_items));
  }
};

DeviceRanking::DeviceRanking(const RankedUsers& users, View<const std::int32_t> rows,
                             View<const float> extra, DeviceStream stream)
    : impl_(std::make_unique<Impl>()) {
  impl_->count = users.count();
  impl_->rows = cuda::upload(rows, stream);
  impl_->extra = cuda::upload(extra, stream);
  impl_->seen_offsets = cuda::upload(View<const std::int64_t>(users.seen.offsets), stream);
  impl_->seen = cuda::upload(View<const std::int32_t>(users.seen.items), stream);
  impl_->held_out_offsets = cuda::upload(View<const std::int64_t>(users.held_out.offsets), stream);
  impl_->held_out = cuda::upload(View<const std::int32_t>(users.held_out.items), stream);
  std::vector<TieKey> tie_keys;
  for (std::int64_t r = 0; r < impl_->count; ++r) tie_keys.push_back(users.tie_key(r));
  impl_->tie_keys = cuda::upload(View<const TieKey>(tie_keys), stream);
  impl_->tied = DeviceBuffer<std::uint8_t>(impl_->count);
  impl_->hits = DeviceBuffer<Hits>(impl_->count);
  impl_->hits_host = PinnedBuffer<Hits>(static_cast<std::size_t>(impl_->count));
  impl_->not_finite = DeviceBuffer<int>(1);
}
DeviceRanking::~DeviceRanking() = default;

RankedItems DeviceRanking::rank(const DeviceScores& scores, DeviceStream stream,
                                AlignedVector<std::int32_t>* top) {
  const FactorView& model = scores.model;
  const bool with_extra = !impl_->extra.empty();
  const std::int32_t width = model.factors + (with_extra ? 1 : 0);
  const float* item_rows = model.q;
  std::int64_t item_stride = model.q_stride;
  if (with_extra) {
    Impl::renew(impl_->items, scores.items, stream);
    item_rows = impl_->items.data();
    item_stride = width;
  }
  Impl::renew(impl_->folded, scores.folded, stream);
  const std::int64_t tile = users_of_tile(impl_->count, model.n_items);
  Impl::reserve(impl_->tile, tile * width);
  Impl::reserve(impl_->scores, tile * model.n_items);
  const SelectArgs select = impl_->select_args(model.n_items, top != nullptr);
  impl_->begin(stream);
  for (std::int64_t first = 0; first < impl_->count; first += tile) {
    const std::int64_t now = std::min(tile, impl_->count - first);
    GatherArgs gather{model.p,
                      model.p_stride,
                      impl_->folded.data(),
                      model.factors,
                      impl_->rows.data() + first,
                      with_extra ? impl_->extra.data() + first : nullptr,
                      now};
    gather_rows<<<cuda::blocks_for(now * width, kGatherThreads, 4096), kGatherThreads, 0, stream>>>(
        gather, impl_->tile.data());
    MF_CUDA_LAUNCHED("gather_rows");
    impl_->multiply(item_rows, item_stride, model.n_items, width, now, stream);
    impl_->launch_select(select, first, now, stream);
  }
  return impl_->finish(stream, top);
}

RankedItems DeviceRanking::select(View<const float> scores, std::int32_t n_items,
                                  DeviceStream stream, AlignedVector<std::int32_t>* top) {
  Impl::renew(impl_->scores, scores, stream);
  impl_->begin(stream);
  if (impl_->count > 0) {
    impl_->launch_select(impl_->select_args(n_items, top != nullptr), 0, impl_->count, stream);
  }
  return impl_->finish(stream, top);
}

}  // namespace mf
