#include "algorithms/core/cuda/convert_rows.hpp"

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::int64_t kMaxBlocks = 1 << 16;

template <class To, class From>
__global__ void convert_kernel(const From* from, std::int64_t from_stride, To* to,
                               std::int64_t to_stride, std::int64_t rows, std::int32_t factors,
                               std::int64_t width) {
  const std::int64_t count = rows * width;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const std::int64_t row = i / width;
    const std::int64_t k = i % width;
    to[row * to_stride + k] =
        k < factors ? static_cast<To>(from[row * from_stride + k]) : static_cast<To>(0.0F);
  }
}

}  // namespace

template <class T>
void rows_from_fp32(const float* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
                    std::int64_t rows, std::int32_t factors, cudaStream_t stream) {
  if (rows == 0) return;
  convert_kernel<T, float>
      <<<blocks_for(rows * to_stride, kThreads, kMaxBlocks), kThreads, 0, stream>>>(
          from, from_stride, to, to_stride, rows, factors, to_stride);
  MF_CUDA_LAUNCHED("rows_from_fp32");
}

template <class T>
void rows_to_fp32(const T* from, std::int64_t from_stride, float* to, std::int64_t to_stride,
                  std::int64_t rows, std::int32_t factors, cudaStream_t stream) {
  if (rows == 0) return;
  convert_kernel<float, T>
      <<<blocks_for(rows * factors, kThreads, kMaxBlocks), kThreads, 0, stream>>>(
          from, from_stride, to, to_stride, rows, factors, factors);
  MF_CUDA_LAUNCHED("rows_to_fp32");
}

#define MF_CONVERT(T)                                                                         \
  template void rows_from_fp32<T>(const float*, std::int64_t, T*, std::int64_t, std::int64_t, \
                                  std::int32_t, cudaStream_t);                                \
  template void rows_to_fp32<T>(const T*, std::int64_t, float*, std::int64_t, std::int64_t,   \
                                std::int32_t, cudaStream_t);
MF_CONVERT(float)
MF_CONVERT(double)
MF_CONVERT(__half)
MF_CONVERT(__nv_bfloat16)
#undef MF_CONVERT

}  // namespace mf::cuda
