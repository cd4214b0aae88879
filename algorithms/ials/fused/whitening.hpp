// The variables in which the Gram matrix of a half-step is the identity. With G + l I = L L^T and
//
//   T = s L^-1      theta'' = T theta      x = unit T^T z
//
// T (G + l I) T^T = s^2 I, so that (G + l I + sum w theta theta^T) x = b becomes
//
//   (s^2 I + sum w theta'' theta''^T) z = T b / unit
//
// and no row needs G again. In exact arithmetic CG on it is CG on the first system preconditioned
// by G + l I. |theta''| <= s, since G >= theta theta^T; s is the power of two below the root of
// the rows of Theta, so that elements are near 1.
//
// n rows of Theta, m of X, f factors: 2 f^2 (2 n + 2 m) FLOPs (G, theta'', the start, X) and
// 8 f^3 / 3 in double precision (L and its inverse); read and written 4 f (3 n + 4 m) bytes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ranks/device_communicator.hpp"
#include "algorithms/ials/fused/row_product.hpp"

struct cublasContext;
struct cusolverDnContext;

namespace mf::ials {

// s of a side of that many rows.
double white_scale(std::int64_t rows);

// Rows of the device: `count` of them, `stride` floats apart, `factors` of each used.
class Whitening {
 public:
  Whitening() = default;
  // Rows of at most `most_rows`. Work is queued on the stream. fast_start: the start of CG may be
  // of tf32.
  Whitening(std::int32_t factors, std::int64_t stride, std::int64_t most_rows, double reg,
            bool fast_start, cudaStream_t stream);

  // From now on the Gram matrix sums the rows of all ranks.
  void set_devices(cuda::DeviceCommunicator* devices) { devices_ = devices; }

  // L and T from the rows of Theta, for x = unit T^T z. `all_rows`: of all ranks.
  void factorize(const float* theta, std::int64_t count, std::int64_t all_rows, double unit);
  // These use the last T. to = theta'', z and x.
  void whiten(const float* theta, std::int64_t count, float* to);
  void start(const float* x, std::int64_t count, float* z);
  void finish(const float* z, std::int64_t count, float* x);

  // Waits for the device. Throws Error(data) if some G + l I was not positive definite.
  void check() const;

 private:
  struct Destroy {
    void operator()(cublasContext* handle) const;
    void operator()(cusolverDnContext* handle) const;
  };
  void form_gram(const float* theta, std::int64_t count);

  std::int32_t factors_ = 0;
  std::int64_t stride_ = 0;
  double reg_ = 0;
  cudaStream_t stream_ = nullptr;
  float unit_ = 1;
  cuda::DeviceCommunicator* devices_ = nullptr;
  std::unique_ptr<cublasContext, Destroy> blas_;
  std::unique_ptr<cusolverDnContext, Destroy> solver_;
  RowProduct by_t_, by_start_, by_t_transposed_;
  cuda::DeviceBuffer<float> parts_;            // of G, a chunk of rows each
  cuda::DeviceBuffer<double> gram_, inverse_;  // L, then T; by columns
  cuda::DeviceBuffer<double> workspace_;       // of cuSOLVER
  cuda::DeviceBuffer<float> start_, t_;        // L / (s unit), T; by columns
  cuda::DeviceBuffer<int> info_, failed_;      // of the last Cholesky; of any
};

}  // namespace mf::ials
