#include <algorithm>
#include <vector>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "harness/evaluate/device/cublas.hpp"
#include "harness/evaluate/device/device_quality.hpp"
#include "harness/evaluate/device/top_items.cuh"

namespace mf {
namespace {

using cuda::DeviceBuffer;
using cuda::PinnedBuffer;

constexpr int kGatherThreads = 256;

static_assert(sizeof(Hits) == (kRanks + 31) / 32 * sizeof(std::uint32_t));

// Packed rows of the picked users.
__global__ void __launch_bounds__(kGatherThreads)
    gather_rows(const __grid_constant__ RowSource users, const std::int32_t* picked,
                std::int64_t count, float* __restrict__ to) {
  const std::int64_t width = users.width();
  const std::int64_t grid = std::int64_t{gridDim.x} * kGatherThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kGatherThreads + threadIdx.x; i < count * width;
       i += grid) {
    to[i] = users[picked[i / width]][static_cast<std::int32_t>(i % width)];
  }
}

// Scores of a block's user, for kSumItems items: the sum of the rows of W of the history, in its
// order.
constexpr int kSumItems = 4 * kGatherThreads;
__global__ void __launch_bounds__(kGatherThreads)
    sum_weights(const float* __restrict__ weights, std::int32_t n_items,
                const std::int64_t* __restrict__ offsets, const std::int32_t* __restrict__ history,
                float* __restrict__ scores, std::int32_t stride) {
  const std::int64_t first = std::int64_t{blockIdx.y} * kSumItems + threadIdx.x;
  float sums[4] = {};
#pragma unroll 4
  for (std::int64_t h = offsets[blockIdx.x]; h < offsets[blockIdx.x + 1]; ++h) {
    const float* row = weights + std::int64_t{history[h]} * n_items;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t item = first + i * kGatherThreads;
      if (item < n_items) sums[i] += row[item];
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::int64_t item = first + i * kGatherThreads;
    if (item < n_items) scores[std::int64_t{blockIdx.x} * stride + item] = sums[i];
  }
}

template <class T>
T round_up(T x, T to) {
  return (x + to - 1) / to * to;
}

}  // namespace

// Tiles of scores in fp16 are worked on in turn by several streams, so that a product runs beside
// the selection from another.
constexpr int kLanes = 3;
constexpr std::int64_t kLaneBytes = std::int64_t{32} << 20;
struct Lane {
  cuda::Stream stream;
  cuda::Event done;
  DeviceBuffer<__half> scores, users;
  DeviceBuffer<ScoreError> errors;
};

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
  DeviceBuffer<std::int32_t> left;  // users, the last element their number
  std::int64_t exact = 0;
  DeviceBuffer<ItemFacts> facts;
  DeviceBuffer<float> tile, folded, items, scores, norms;
  DeviceBuffer<__half> half_items;
  cuda::Event items_ready;
  Lane lanes[kLanes];

  SelectArgs select_args(std::int32_t n_items, bool with_top) {
    SelectArgs args;
    args.n_items = n_items;
    args.stride = round_up(n_items, 8);
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

  void launch_select(SelectArgs args, std::int64_t first, std::int64_t now, cudaStream_t stream,
                     const std::int32_t* picked = nullptr) {
    args.scores = scores.data();
    args.first_user = first;
    args.picked = picked;
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
  template <class T>
  static void reserve(DeviceBuffer<T>& buffer, std::int64_t count) {
    if (std::ssize(buffer) >= count) return;
    buffer.reset();
    buffer = DeviceBuffer<T>(count);
  }

  static void renew(DeviceBuffer<float>& buffer, View<const float> from, cudaStream_t stream) {
    reserve(buffer, from.size());
    cuda::copy_to_device(buffer, from, stream);
  }

  // A product of `now` users and n items of `width` numbers, rows `stride` apart; rows of `to` are
  // `to_stride` numbers apart. Column i of cuBLAS's matrices is row i of ours.
  void multiply(const void* item_rows, std::int64_t stride, const void* user_rows,
                cudaDataType_t type, std::int32_t n, std::int32_t width, std::int64_t now, void* to,
                std::int32_t to_stride, cudaStream_t stream) {
    const float one = 1;
    const float zero = 0;
    MF_CUBLAS(cublasGemmEx(cublas.on(stream), CUBLAS_OP_T, CUBLAS_OP_N, n, static_cast<int>(now),
                           width, &one, item_rows, type, static_cast<int>(stride), user_rows, type,
                           width, &zero, to, type, to_stride, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT));
  }

  // Scores in fp16. Returns how many users are left without ranks, the first of `left`.
  std::int64_t rank_narrow(SelectArgs args, cudaStream_t stream) {
    const std::int32_t n = args.stride;
    const std::int32_t width = round_up(args.users.width(), 8);
    const std::int64_t at_once =
        std::min(count, round_up<std::int64_t>(kLaneBytes / (2 * n) + 1, 128));
    reserve(half_items, std::int64_t{n} * width);
    reserve(norms, n);
    MF_CUDA(cudaMemsetAsync(facts.data(), 0, sizeof(ItemFacts), stream));
    MF_CUDA(cudaMemsetAsync(left.data() + count, 0, sizeof(std::int32_t), stream));
    constexpr int kWarps = kNarrowThreads / 32;
    for (__half* to : {static_cast<__half*>(nullptr), half_items.data()}) {
      narrow_items<<<cuda::blocks_for(n, kWarps, 1024), kNarrowThreads, 0, stream>>>(
          args.items, args.n_items, n, width, to, norms.data(), facts.data());
      MF_CUDA_LAUNCHED("narrow_items");
    }
    items_ready.record(stream);
    args.norms = norms.data();
    args.facts = facts.data();
    args.left = left.data();
    args.left_count = left.data() + count;
    for (Lane& lane : lanes) {
      reserve(lane.scores, at_once * n);
      reserve(lane.users, at_once * width);
      reserve(lane.errors, at_once);
      MF_CUDA(cudaStreamWaitEvent(lane.stream.get(), items_ready.get(), 0));
    }
    for (std::int64_t first = 0; first < count; first += at_once) {
      Lane& lane = lanes[first / at_once % kLanes];
      const std::int64_t now = std::min(at_once, count - first);
      narrow_users<<<cuda::blocks_for(now, kWarps), kNarrowThreads, 0, lane.stream.get()>>>(
          args.users, first, now, width, facts.data(), lane.users.data(), lane.errors.data(),
          not_finite.data());
      MF_CUDA_LAUNCHED("narrow_users");
      multiply(half_items.data(), width, lane.users.data(), CUDA_R_16F, n, width, now,
               lane.scores.data(), n, lane.stream.get());
      args.scores = lane.scores.data();
      args.errors = lane.errors.data();
      args.first_user = first;
      select_candidates<<<static_cast<unsigned>(now), kSelectThreads, 0, lane.stream.get()>>>(args);
      MF_CUDA_LAUNCHED("select_candidates");
    }
    for (Lane& lane : lanes) {
      lane.done.record(lane.stream.get());
      MF_CUDA(cudaStreamWaitEvent(stream, lane.done.get(), 0));
    }
    std::int32_t found = 0;
    cuda::download(View<std::int32_t>(&found, 1), left.data() + count, stream);
    return found;
  }

  // Scores in fp32, for the first `all` users of `left`.
  void rank_left(const SelectArgs& args, std::int64_t all, cudaStream_t stream) {
    const std::int32_t width = args.users.width();
    const std::int64_t at_once = users_of_tile(all, std::int64_t{4} * args.stride);
    reserve(tile, at_once * width);
    reserve(scores, at_once * args.stride);
    for (std::int64_t first = 0; first < all; first += at_once) {
      const std::int64_t now = std::min(at_once, all - first);
      const std::int32_t* picked = left.data() + first;
      gather_rows<<<cuda::blocks_for(now * width, kGatherThreads, 4096), kGatherThreads, 0,
                    stream>>>(args.users, picked, now, tile.data());
      MF_CUDA_LAUNCHED("gather_rows");
      multiply(args.items.rows, args.items.stride, tile.data(), CUDA_R_32F, args.n_items, width,
               now, scores.data(), args.stride, stream);
      launch_select(args, 0, now, stream, picked);
    }
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
  impl_->left = DeviceBuffer<std::int32_t>(impl_->count + 1);
  impl_->facts = DeviceBuffer<ItemFacts>(1);
}
DeviceRanking::~DeviceRanking() = default;

RankedItems DeviceRanking::rank(const DeviceScores& scores, DeviceStream stream,
                                AlignedVector<std::int32_t>* top) {
  const FactorView& model = scores.model;
  const bool with_extra = !impl_->extra.empty();
  Impl::renew(impl_->folded, scores.folded, stream);
  SelectArgs args = impl_->select_args(model.n_items, top != nullptr);
  args.users = {model.p,
                model.p_stride,
                model.factors,
                impl_->rows.data(),
                impl_->folded.data(),
                with_extra ? impl_->extra.data() : nullptr};
  args.items = {model.q, model.q_stride, model.factors};
  if (with_extra) {
    Impl::renew(impl_->items, scores.items, stream);
    args.items = {impl_->items.data(), args.users.width(), args.users.width()};
  }
  impl_->begin(stream);
  impl_->exact = impl_->rank_narrow(args, stream);
  impl_->rank_left(args, impl_->exact, stream);
  return impl_->finish(stream, top);
}

std::int64_t DeviceRanking::ranked_exactly() const { return impl_->exact; }

RankedItems DeviceRanking::rank(const float* weights, std::int32_t n_items,
                                const ItemLists& histories, DeviceStream stream,
                                AlignedVector<std::int32_t>* top) {
  const auto offsets = cuda::upload(View<const std::int64_t>(histories.offsets), stream);
  const auto history = cuda::upload(View<const std::int32_t>(histories.items), stream);
  const SelectArgs args = impl_->select_args(n_items, top != nullptr);
  const std::int64_t at_once = users_of_tile(impl_->count, std::int64_t{4} * args.stride);
  Impl::reserve(impl_->scores, at_once * args.stride);
  impl_->begin(stream);
  for (std::int64_t first = 0; first < impl_->count; first += at_once) {
    const std::int64_t now = std::min(at_once, impl_->count - first);
    const dim3 grid(static_cast<unsigned>(now), cuda::blocks_for(n_items, kSumItems));
    sum_weights<<<grid, kGatherThreads, 0, stream>>>(weights, n_items, offsets.data() + first,
                                                     history.data(), impl_->scores.data(),
                                                     args.stride);
    MF_CUDA_LAUNCHED("sum_weights");
    impl_->launch_select(args, first, now, stream);
  }
  return impl_->finish(stream, top);
}

}  // namespace mf
