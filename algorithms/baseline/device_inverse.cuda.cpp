#include "algorithms/baseline/device_inverse.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/baseline/ease_kernels.hpp"

namespace mf::baseline {
namespace {

constexpr auto kLower = CUBLAS_FILL_MODE_LOWER;
constexpr auto kPlain = CUBLAS_OP_N, kTransposed = CUBLAS_OP_T;
constexpr float kZero = 0, kOne = 1, kMinusOne = -1;

// Columns of `rows` floats.
void copy(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride,
          std::int64_t rows, std::int64_t columns, cudaStream_t stream) {
  const auto bytes = [](std::int64_t floats) {
    return static_cast<std::size_t>(floats) * sizeof(float);
  };
  MF_CUDA(cudaMemcpy2DAsync(to, bytes(to_stride), from, bytes(from_stride), bytes(rows),
                            static_cast<std::size_t>(columns), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

DeviceInverse::DeviceInverse(std::int64_t n, Sizes sizes, cudaStream_t stream)
    : sizes_{std::clamp<std::int64_t>(n, 1, sizes.width), sizes.strip},
      stream_(stream),
      w_(n * sizes_.width),
      block_(sizes_.width * sizes_.width),
      failed_((n + sizes_.width - 1) / sizes_.width) {
  MF_LIBRARY(cublasCreate(&blas_));
  MF_LIBRARY(cublasSetStream(blas_, stream_));
  MF_LIBRARY(cusolverDnCreate(&solver_));
  MF_LIBRARY(cusolverDnSetStream(solver_, stream_));
  const auto width = static_cast<int>(sizes_.width);
  int floats = 0;
  MF_LIBRARY(cusolverDnSpotrf_bufferSize(solver_, kLower, width, block_.data(), width, &floats));
  workspace_ = cuda::DeviceBuffer<float>(floats);
}

DeviceInverse::~DeviceInverse() {
  cusolverDnDestroy(solver_);
  cublasDestroy(blas_);
}

bool DeviceInverse::invert(float* a, std::int64_t n, std::int64_t stride) {
  for (std::int64_t first = 0; first < n; first += sizes_.width) sweep(a, n, stride, first);
  std::vector<int> failed((n + sizes_.width - 1) / sizes_.width);
  cuda::download(View<int>(failed), failed_.data(), stream_);
  return std::all_of(failed.begin(), failed.end(), [](int info) { return info == 0; });
}

void DeviceInverse::sweep(float* a, std::int64_t n, std::int64_t stride, std::int64_t first) {
  const std::int64_t width = std::min(sizes_.width, n - first);
  float* w = w_.data();
  float* row = a + first;                    // A_K., left of the diagonal
  float* column = a + first * (stride + 1);  // A_.K, from the diagonal on
  const auto width32 = static_cast<int>(width);
  const auto solve = [&](cublasOperation_t side) {
    MF_LIBRARY(cublasStrsm_64(blas_, CUBLAS_SIDE_RIGHT, kLower, side, CUBLAS_DIAG_NON_UNIT, n,
                              width, &kOne, block_.data(), width, w, n));
  };
  copy(block_.data(), width, column, stride, width, width, stream_);
  MF_LIBRARY(cusolverDnSpotrf(solver_, kLower, width32, block_.data(), width32, workspace_.data(),
                              static_cast<int>(workspace_.size()),
                              failed_.data() + first / sizes_.width));
  if (first > 0) {
    MF_LIBRARY(cublasSgeam_64(blas_, kTransposed, kPlain, first, width, &kOne, row, stride, &kZero,
                              w, n, w, n));
  }
  copy(w + first, n, column, stride, n - first, width, stream_);
  MF_CUDA(cudaMemset2DAsync(w + first, static_cast<std::size_t>(n) * sizeof(float), 0,
                            static_cast<std::size_t>(width) * sizeof(float),
                            static_cast<std::size_t>(width), stream_));
  launch_add_diagonal(w + first, n, width, -1, stream_);
  solve(kTransposed);
  subtract_square(a, n, stride, width);
  solve(kPlain);
  copy(column, stride, w + first, n, n - first, width, stream_);
  if (first > 0) {
    MF_LIBRARY(cublasSgeam_64(blas_, kTransposed, kPlain, width, first, &kOne, w, n, &kZero, row,
                              stride, row, stride));
  }
}

// A -= V V^T
void DeviceInverse::subtract_square(float* a, std::int64_t n, std::int64_t stride,
                                    std::int64_t width) {
  for (std::int64_t first = 0; first < n; first += sizes_.strip) {
    const std::int64_t columns = std::min(sizes_.strip, n - first), below = n - first - columns;
    const float* v = w_.data() + first;
    float* to = a + first * (stride + 1);
    MF_LIBRARY(
        cublasSsyrk_64(blas_, kLower, kPlain, columns, width, &kMinusOne, v, n, &kOne, to, stride));
    if (below == 0) return;
    MF_LIBRARY(cublasSgemm_64(blas_, kPlain, kTransposed, below, columns, width, &kMinusOne,
                              v + columns, n, v, n, &kOne, to + columns, stride));
  }
}

}  // namespace mf::baseline
