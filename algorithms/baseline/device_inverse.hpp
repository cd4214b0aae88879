// The inverse of a symmetric positive definite matrix on a device, in fp32 and in place: the sweeps
// of inverse.hpp by cuBLAS, whose calls with 64-bit sizes let n^2 pass 2^31. (The inverse of
// cuSOLVER, potri, ends at 46,340 rows.) For a block K of rows, with L L^T its block on the
// diagonal, V = W L^-T and S = V L^-1 = W D,
//
//   A -= V V^T,  then  A_.K = S
//
// The rows K of W are set to -I before, so the rows K of S are -D.
//
// Nearly all of the n^3 operations are the products V V^T: `width` deep, of the lower triangle
// only.
#pragma once

#include <cstdint>

#include "algorithms/core/cuda/library_check.hpp"
#include "algorithms/core/cuda/memory.hpp"

namespace mf::baseline {

class DeviceInverse {
 public:
  // width: rows of a block. strip: columns of V V^T that are made at once; below its square on the
  // diagonal a strip is a general product.
  struct Sizes {
    std::int64_t width = 512;
    std::int64_t strip = 16384;
  };

  DeviceInverse(std::int64_t n, Sizes sizes, cudaStream_t stream);
  ~DeviceInverse();
  DeviceInverse(const DeviceInverse&) = delete;
  DeviceInverse& operator=(const DeviceInverse&) = delete;

  // Replaces A (n x n, its columns `stride` floats apart) by -A^-1. Only the lower triangle is
  // read; above it only blocks on the diagonal are written. Waits for the stream. False if A is not
  // positive definite.
  bool invert(float* a, std::int64_t n, std::int64_t stride);

 private:
  void sweep(float* a, std::int64_t n, std::int64_t stride, std::int64_t first);
  void subtract_square(float* a, std::int64_t n, std::int64_t stride, std::int64_t width);

  Sizes sizes_;
  cudaStream_t stream_;
  cublasHandle_t blas_ = nullptr;
  cusolverDnHandle_t solver_ = nullptr;
  cuda::DeviceBuffer<float> w_, block_, workspace_;  // W, then V, then S; A_KK, then L
  cuda::DeviceBuffer<int> failed_;                   // of each block
};

}  // namespace mf::baseline
