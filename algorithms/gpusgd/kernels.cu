#include "algorithms/gpusgd/kernels.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/gpusgd/schedule.hpp"

namespace mf::gpusgd {
namespace {

template <class Real>
struct alignas(16) Word {
  static constexpr int kSize = static_cast<int>(16 / sizeof(Real));
  Real x[kSize];
};

template <bool kBiased, class Real>
__device__ Real rating_error(const Hyper<Real>& hyper, float rating, Real user_bias, Real item_bias,
                             Real dot) {
  const auto r = static_cast<Real>(rating);
  if constexpr (kBiased) return biased_error(hyper.mean, r, user_bias, item_bias, dot);
  return plain_error(r, dot);
}

template <class Real>
__device__ void write_biases(const Arrays<Real>& a, const Hyper<Real>& hyper, const Rating& rating,
                             Real user_bias, Real item_bias, Real gain) {
  a.user_bias[rating.user] = step(user_bias, Real{1}, gain, hyper.shrink_user_bias);
  a.item_bias[rating.item] = step(item_bias, Real{1}, gain, hyper.shrink_item_bias);
}

// A whole update by one thread, the factors one after another (in words of 16 bytes).
template <bool kBiased, class Real>
__device__ void update_serially(const Arrays<Real>& a, const Hyper<Real>& hyper,
                                const Rating& rating) {
  using W = Word<Real>;
  const int words = (a.factors + W::kSize - 1) / W::kSize;
  W* p = reinterpret_cast<W*>(a.p + rating.user * a.stride);
  W* q = reinterpret_cast<W*>(a.q + rating.item * a.stride);
  Real user_bias = 0;
  Real item_bias = 0;
  if constexpr (kBiased) {
    user_bias = a.user_bias[rating.user];
    item_bias = a.item_bias[rating.item];
  }
  Real dot = 0;
#pragma unroll 4
  for (int w = 0; w < words; ++w) {
    const W p_word = p[w];
    const W q_word = q[w];
#pragma unroll
    for (int i = 0; i < W::kSize; ++i) dot = multiply_add(p_word.x[i], q_word.x[i], dot);
  }
  const Real gain =
      hyper.rate * rating_error<kBiased>(hyper, rating.value, user_bias, item_bias, dot);
  if constexpr (kBiased) write_biases(a, hyper, rating, user_bias, item_bias, gain);
#pragma unroll 4
  for (int w = 0; w < words; ++w) {
    const W p_old = p[w];
    const W q_old = q[w];
    W p_new;
    W q_new;
#pragma unroll
    for (int i = 0; i < W::kSize; ++i) {
      p_new.x[i] = step(p_old.x[i], q_old.x[i], gain, hyper.shrink_p);
      q_new.x[i] = step(q_old.x[i], p_old.x[i], gain, hyper.shrink_q);
    }
    p[w] = p_new;
    q[w] = q_new;
  }
}

// GPUSGD: the groups of a block one after another, a thread a rating. The barrier also shows the
// rows that a group wrote to the next one.
template <bool kBiased, class Real>
__global__ void __launch_bounds__(1024)
    grouped_kernel(const Arrays<Real> a, const std::int64_t first_slot) {
  const std::int64_t slot = first_slot + blockIdx.x;
  const std::int64_t end_group = a.first_group[slot + 1];
  std::int64_t group = a.first_group[slot];
  if (group == end_group) return;  // the whole thread block
  const Hyper<Real> hyper = *a.hyper;
  std::int64_t begin = a.group_begins[group];
  for (; group < end_group; ++group) {
    const std::int64_t end = a.group_begins[group + 1];
    for (std::int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      update_serially<kBiased>(a, hyper, a.ratings[i]);
    }
    begin = end;
    __syncthreads();
  }
}

// NewGPUSGD, Algorithm 1 as corrected in docs/errata.md: the ratings of a block one after another,
// thread k owns element k of both rows. Threads beyond the factors only come to the barriers.
template <bool kBiased, class Real>
__global__ void __launch_bounds__(1024)
    tree_kernel(const Arrays<Real> a, const std::int64_t first_slot) {
  extern __shared__ double shared[];
  Real* products = reinterpret_cast<Real*>(shared);
  const std::int64_t slot = first_slot + blockIdx.x;
  const std::int64_t begin = a.offsets[slot];
  const std::int64_t end = a.offsets[slot + 1];
  if (begin == end) return;  // the whole thread block
  const Hyper<Real> hyper = *a.hyper;
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
    // Read before, written after the first barrier; read again after the last.
    Real user_bias = 0;
    Real item_bias = 0;
    if constexpr (kBiased) {
      user_bias = a.user_bias[rating.user];
      item_bias = a.item_bias[rating.item];
    }
    __syncthreads();
    for (int distance = 1; distance < f; distance *= 2) {
      if (adds(k, distance, f)) products[k] += products[k + distance];
      __syncthreads();
    }
    const Real gain =
        hyper.rate * rating_error<kBiased>(hyper, rating.value, user_bias, item_bias, products[0]);
    if (k < f) {
      *p = step(p_old, q_old, gain, hyper.shrink_p);
      *q = step(q_old, p_old, gain, hyper.shrink_q);
    }
    if constexpr (kBiased) {
      if (k == 0) write_biases(a, hyper, rating, user_bias, item_bias, gain);
    }
    __syncthreads();  // products[0] has been read
  }
}

template <bool kBiased, class Real>
void launch_scheme(Scheme scheme, int threads, const Arrays<Real>& arrays, std::int64_t first_slot,
                   cudaStream_t stream) {
  const auto grid = static_cast<unsigned>(arrays.blocks);
  const auto block = static_cast<unsigned>(threads);
  if (scheme == Scheme::grouped) {
    grouped_kernel<kBiased, Real><<<grid, block, 0, stream>>>(arrays, first_slot);
  } else {
    const std::size_t bytes = static_cast<std::size_t>(arrays.factors) * sizeof(Real);
    tree_kernel<kBiased, Real><<<grid, block, bytes, stream>>>(arrays, first_slot);
  }
  MF_CUDA_LAUNCHED(scheme_name(scheme));
}

__global__ void narrow_kernel(const double* from, float* to, std::int64_t count) {
  const std::int64_t every = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += every) {
    to[i] = static_cast<float>(from[i]);
  }
}

}  // namespace

template <class Real>
void launch_diagonal(Scheme scheme, bool biased, int threads, const Arrays<Real>& arrays,
                     std::int32_t tag, cudaStream_t stream) {
  const std::int64_t first_slot = slot_of(tag, 0, arrays.blocks);
  if (biased) {
    launch_scheme<true>(scheme, threads, arrays, first_slot, stream);
  } else {
    launch_scheme<false>(scheme, threads, arrays, first_slot, stream);
  }
}

template void launch_diagonal(Scheme, bool, int, const Arrays<float>&, std::int32_t, cudaStream_t);
template void launch_diagonal(Scheme, bool, int, const Arrays<double>&, std::int32_t, cudaStream_t);

void launch_narrow(const double* from, float* to, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return;
  const auto grid = static_cast<unsigned>(std::min<std::int64_t>((count + 255) / 256, 4096));
  narrow_kernel<<<grid, 256, 0, stream>>>(from, to, count);
  MF_CUDA_LAUNCHED("narrow");
}

}  // namespace mf::gpusgd
