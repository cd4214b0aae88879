// Chooses the kernel of als_fused (kernel.cuh), and rounds rows for it:
//   high = fp16(s x),  low = fp16(s x - high)
// A thread a value, in the order of the narrow rows: 4 f bytes of a row read, 2 a word and padded
// element written.
#include "algorithms/als/fused/kernels.hpp"

#include <iterator>
#include <type_traits>
#include <utility>

#include "algorithms/als/fused/group.hpp"
#include "algorithms/als/fused/group_layout.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::als {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 4096;

__global__ void __launch_bounds__(kThreads)
    narrow_kernel(const float* rows, std::int64_t rows_stride, float scale, NarrowRows to,
                  std::int64_t stride, std::int64_t count, std::int32_t factors) {
  const std::int64_t threads = std::int64_t{gridDim.x} * kThreads;
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  for (std::int64_t i = first; i < count * stride; i += threads) {
    const std::int64_t k = i % stride;
    const float x = k < factors ? scale * rows[i / stride * rows_stride + k] : 0.0F;
    const __half high = __float2half_rn(x);
    to.high[i] = high;
    if (to.low != nullptr) to.low[i] = __float2half_rn(x - __half2float(high));
  }
}

template <bool TwoWords, std::size_t... I>
void launch_words(const FusedRule& rule, const FusedSide& side, cudaStream_t stream,
                  std::index_sequence<I...>) {
  const int tiles = fused_tiles(rule.factors);
  const auto launch = [&](auto count) {
    if (tiles == count) launch_tiles<count, TwoWords>(rule, side, stream);
  };
  (launch(std::integral_constant<int, kFusedTileCounts[I]>()), ...);
}

}  // namespace

bool group_products(FusedProducts wanted, FusedPrecision precision, std::int32_t factors) {
  return wanted == FusedProducts::automatic && precision == FusedPrecision::fp16 &&
         fused_tiles(factors) == kGroupTiles && has_group_kernel();
}

std::int64_t fused_slot_floats(FusedPrecision precision, const FusedRule& rule) {
  if (rule.group) return kGroupSlotFloats;
  const int tiles = fused_tiles(rule.factors);
  const int warps = fused_warps(tiles, precision == FusedPrecision::fp16x2);
  return std::int64_t{fused_slot_floats_of_thread(tiles, warps)} * 32 * warps;
}

void launch_fused(FusedPrecision precision, const FusedRule& rule, const FusedSide& side,
                  cudaStream_t stream) {
  if (rule.group) return launch_group(rule, side, stream);
  const auto counts = std::make_index_sequence<std::size(kFusedTileCounts)>();
  precision == FusedPrecision::fp16 ? launch_words<false>(rule, side, stream, counts)
                                    : launch_words<true>(rule, side, stream, counts);
}

void narrow(const float* rows, std::int64_t rows_stride, float scale, NarrowRows to,
            std::int64_t count, std::int32_t factors, cudaStream_t stream) {
  const std::int64_t stride = fused_stride(factors);
  if (count == 0) return;
  narrow_kernel<<<cuda::blocks_for(count * stride, kThreads, kMostBlocks), kThreads, 0, stream>>>(
      rows, rows_stride, scale, to, stride, count, factors);
  MF_CUDA_LAUNCHED("narrow_kernel");
}

}  // namespace mf::als
