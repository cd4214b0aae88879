// The update of a rating r of user u and item i:
//
//   e    = r - p_u . q_i
//   p_u += rate (e q_i - reg_p p_u)      q_i += rate (e p_u - reg_q q_i)    both with old values
//
// A launch is a diagonal of blocks, a thread block each: they share no user and no item, and the
// next launch sees their writes. Inside a block nothing is lost either:
//
// grouped_kernel (gpusgd): the groups of a block one after another, a thread a rating, its factors
// one after another in words of 16 bytes. A group shares no row and no column.
// tree_kernel (newgpusgd; Algorithm 1 as corrected in docs/errata.md): the ratings of a block one
// after another, thread k owns element k of both rows, p.q by a tree in shared memory.
//
// An update takes 10 f + 2 FLOPs, reads a rating of 12 bytes, and reads and writes both rows: 4 w f
// bytes for elements of w bytes. Neither kernel comes near that limit: the ratings or groups of a
// block wait for each other, one latency of memory and 2 + ceil(log2 f) barriers a rating, or one
// barrier a group (README.md).
#include "algorithms/gpusgd/kernels.hpp"

#include <cuda_runtime.h>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/gpusgd/schedule.hpp"

namespace mf::gpusgd {
namespace {

template <class Real>
struct alignas(16) Word {
  static constexpr int kSize = static_cast<int>(16 / sizeof(Real));
  Real x[kSize];
};

// A whole update by one thread.
template <class Real>
__device__ void update_serially(const Arrays<Real>& a, const sgd::Step<Real>& step,
                                const Rating& rating) {
  using W = Word<Real>;
  using Math = sgd::Arithmetic<Real>;
  const int words = (a.factors + W::kSize - 1) / W::kSize;
  W* p = reinterpret_cast<W*>(a.p + rating.user * a.stride);
  W* q = reinterpret_cast<W*>(a.q + rating.item * a.stride);
  Real dot = 0;
#pragma unroll 4
  for (int w = 0; w < words; ++w) {
    const W p_word = p[w];
    const W q_word = q[w];
#pragma unroll
    for (int i = 0; i < W::kSize; ++i) dot = Math::fma(p_word.x[i], q_word.x[i], dot);
  }
  const Real gain =
      step.rate * sgd::rating_error<false>(step, Real{rating.value}, Real{0}, Real{0}, dot);
#pragma unroll 4
  for (int w = 0; w < words; ++w) {
    const W p_old = p[w];
    const W q_old = q[w];
    W p_new;
    W q_new;
#pragma unroll
    for (int i = 0; i < W::kSize; ++i) {
      p_new.x[i] = sgd::stepped(p_old.x[i], q_old.x[i], gain, step.shrink_p);
      q_new.x[i] = sgd::stepped(q_old.x[i], p_old.x[i], gain, step.shrink_q);
    }
    p[w] = p_new;
    q[w] = q_new;
  }
}

// The barrier also shows the rows that a group wrote to the next one.
template <class Real>
__global__ void __launch_bounds__(1024)
    grouped_kernel(const Arrays<Real> a, const std::int64_t first_slot) {
  const std::int64_t slot = first_slot + blockIdx.x;
  const std::int64_t end_group = a.first_group[slot + 1];
  std::int64_t group = a.first_group[slot];
  if (group == end_group) return;  // the whole thread block
  const sgd::Step<Real> step = *a.step;
  std::int64_t begin = a.group_begins[group];
  for (; group < end_group; ++group) {
    const std::int64_t end = a.group_begins[group + 1];
    for (std::int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      update_serially(a, step, a.ratings[i]);
    }
    begin = end;
    __syncthreads();
  }
}

// Threads beyond the factors only come to the barriers.
template <class Real>
__global__ void __launch_bounds__(1024)
    tree_kernel(const Arrays<Real> a, const std::int64_t first_slot) {
  extern __shared__ double shared[];
  Real* products = reinterpret_cast<Real*>(shared);
  const std::int64_t slot = first_slot + blockIdx.x;
  const std::int64_t begin = a.offsets[slot];
  const std::int64_t end = a.offsets[slot + 1];
  if (begin == end) return;  // the whole thread block
  const sgd::Step<Real> step = *a.step;
  const int k = static_cast<int>(threadIdx.x);
  const int f = a.factors;

  Rating next = a.ratings[begin];
  for (std::int64_t i = begin; i < end; ++i) {
    const Rating rating = next;
    if (i + 1 < end) next = a.ratings[i + 1];  // on its way while this one is worked on
    Real* p = a.p + rating.user * a.stride + k;
    Real* q = a.q + rating.item * a.stride + k;
    Real p_old = 0;
    Real q_old = 0;
    if (k < f) {
      p_old = *p;
      q_old = *q;
      products[k] = p_old * q_old;
    }
    __syncthreads();
    for (int distance = 1; distance < f; distance *= 2) {
      if (adds(k, distance, f)) products[k] += products[k + distance];
      __syncthreads();
    }
    const Real gain = step.rate * sgd::rating_error<false>(step, Real{rating.value}, Real{0},
                                                           Real{0}, products[0]);
    if (k < f) {
      *p = sgd::stepped(p_old, q_old, gain, step.shrink_p);
      *q = sgd::stepped(q_old, p_old, gain, step.shrink_q);
    }
    __syncthreads();  // products[0] has been read
  }
}

}  // namespace

template <class Real>
void launch_diagonal(const Settings& settings, const Arrays<Real>& arrays, std::int32_t tag,
                     cudaStream_t stream) {
  const std::int64_t first_slot = slot_of(tag, 0, arrays.blocks);
  const auto grid = static_cast<unsigned>(arrays.blocks);
  const int block = settings.threads_per_block;
  if (settings.scheme == Scheme::grouped) {
    grouped_kernel<Real><<<grid, block, 0, stream>>>(arrays, first_slot);
    MF_CUDA_LAUNCHED("grouped_kernel");
  } else {
    const std::size_t bytes = static_cast<std::size_t>(arrays.factors) * sizeof(Real);
    tree_kernel<Real><<<grid, block, bytes, stream>>>(arrays, first_slot);
    MF_CUDA_LAUNCHED("tree_kernel");
  }
}

template void launch_diagonal(const Settings&, const Arrays<float>&, std::int32_t, cudaStream_t);
template void launch_diagonal(const Settings&, const Arrays<double>&, std::int32_t, cudaStream_t);

}  // namespace mf::gpusgd
