// Chooses the kernel of get_hermitian (hermitian.cuh), and adds the parts of split rows:
//   A_u = sum over its parts of A_part  + lambda n_u I  (with weights: + base)
// A thread block a row (of fp32 several, a share of the words each), a thread 16-byte words of A,
// the parts in their order: the same in every run. A row of k parts: k 4 f^2 bytes read, s f^2
// written (s bytes a stored value), k f^2 additions.
#include "algorithms/als/cumf/hermitian/hermitian.cuh"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::als {
namespace {

constexpr int kAddThreads = 256;
constexpr std::int64_t kValuesOfShare = 1 << 16;  // 256 factors squared

// A thread block a split row: its parts in their order, then lambda, then as A is stored.
template <bool kWeighted>
__global__ void __launch_bounds__(kAddThreads) add_parts_kernel(const HermitianArgs a) {
  __shared__ int largest;
  const SplitRow row = a.splits[blockIdx.x];
  const int f = a.factors;
  const int words = (f + 3) / 4;  // of a row of a part
  const float diagonal = row_reg(a.reg, a.reg_power, row.count);
  const std::int64_t matrix_values = a_values(AStorage::fp32, f);
  const std::int64_t part_values = matrix_values * a.part_step;  // to the row's next part
  const float* parts = a.parts + row.first_part * matrix_values;
  const auto word_at = [&](int i, int word) {
    const std::int64_t at = std::int64_t{i} * words + word;
    float4 sum = {0, 0, 0, 0};
#pragma unroll 4
    for (int p = 0; p < row.parts; ++p) {
      sum = add4(sum, __ldcs(reinterpret_cast<const float4*>(parts + p * part_values) + at));
    }
    if constexpr (kWeighted) sum = add4(sum, __ldg(reinterpret_cast<const float4*>(a.base) + at));
    return with_diagonal(sum, i, 4 * word, diagonal);
  };

  const std::int64_t to = row.slot * a_values(a.storage, f);
  if (a.storage == AStorage::fp32) {
    auto* out = reinterpret_cast<float4*>(static_cast<float*>(a.a) + to);
    const int step = kAddThreads * static_cast<int>(gridDim.y);
    for (int at = static_cast<int>(blockIdx.y * kAddThreads + threadIdx.x); at < f * words;
         at += step) {
      out[at] = word_at(at / words, at % words);
    }
    return;
  }
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < f; i += kAddThreads) {
    float sum = 0.0F;
    for (int p = 0; p < row.parts; ++p) {
      sum += parts[p * part_values + std::int64_t{i} * words * 4 + i];
    }
    atomicMax(&largest, __float_as_int(sum + diagonal));
  }
  __syncthreads();
  const int exponent = fp16_exponent(__int_as_float(largest));
  const float factor = ldexpf(1.0F, exponent);
  if (threadIdx.x == 0) a.scale[row.slot] = ldexpf(1.0F, -exponent);
  const int pairs = (words + 1) / 2;
  auto* out = reinterpret_cast<uint4*>(static_cast<__half*>(a.a) + to);
  for (int at = static_cast<int>(threadIdx.x); at < f * pairs; at += kAddThreads) {
    const int i = at / pairs;
    const int word = 2 * (at % pairs);
    const float4 high = word + 1 < words ? word_at(i, word + 1) : float4{0, 0, 0, 0};
    out[at] = to_half8(word_at(i, word), high, factor);
  }
}

void launch_tasks(const HermitianArgs& args, Load load, cudaStream_t stream, HermitianPart part) {
  if (args.factors > kMostTiledFactors) return launch_wide(args, stream);
  if (args.weights != nullptr) return launch_weighted(args, part, stream);
  switch (load) {
    case Load::coalesced:
      return launch_load<Load::coalesced>(args, part, stream);
    case Load::noncoalesced_l1:
      return launch_load<Load::noncoalesced_l1>(args, part, stream);
    case Load::noncoalesced_nol1:
      return launch_load<Load::noncoalesced_nol1>(args, part, stream);
  }
}

}  // namespace

void launch_hermitian(const HermitianArgs& args, Load load, cudaStream_t stream,
                      HermitianPart part) {
  if (args.n_tasks == 0) return;
  launch_tasks(args, load, stream, part);
  if (part == HermitianPart::all) launch_add_parts(args, stream);
}

void launch_add_parts(const HermitianArgs& args, cudaStream_t stream) {
  if (args.n_splits == 0) return;
  const auto add_parts = args.base != nullptr ? add_parts_kernel<true> : add_parts_kernel<false>;
  const auto rows = static_cast<unsigned>(args.n_splits);
  // For fp16 one, which finds the scale.
  const unsigned shares =
      args.storage == AStorage::fp32
          ? cuda::blocks_for(a_values(args.storage, args.factors), kValuesOfShare)
          : 1;
  add_parts<<<dim3(rows, shares), kAddThreads, 0, stream>>>(args);
  MF_CUDA_LAUNCHED("als add_parts");
}

}  // namespace mf::als
