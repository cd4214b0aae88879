// d I + v v^T on a device, of any size, whose inverse is known: (I - v v^T / (d + |v|^2)) / d.
#pragma once

#include "algorithms/baseline/device_inverse.hpp"
#include "algorithms/baseline/ease_kernels.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/aligned.hpp"
#include "base/rng.hpp"

namespace mf::test {

class KnownInverse {
 public:
  explicit KnownInverse(std::int64_t n) : v_(n), a_(n * n) {
    Rng rng(4);
    for (float& x : v_) {
      x = static_cast<float>(rng.normal() / 300);
      square_ += static_cast<double>(x) * static_cast<double>(x);
    }
    on_device_ = cuda::upload(View<const float>(v_), stream_.get());
    MF_LIBRARY(cublasCreate(&blas_));
    MF_LIBRARY(cublasSetStream(blas_, stream_.get()));
  }
  ~KnownInverse() { cublasDestroy(blas_); }
  KnownInverse(const KnownInverse&) = delete;
  KnownInverse& operator=(const KnownInverse&) = delete;

  const cuda::Stream& stream() const { return stream_; }
  float* a() { return a_.data(); }

  // The lower triangle. Queued.
  void make() {
    const std::int64_t n = std::ssize(v_);
    const float one = 1;
    MF_CUDA(cudaMemsetAsync(a_.data(), 0, a_.bytes(), stream_.get()));
    baseline::launch_add_diagonal(a_.data(), n, n, static_cast<float>(kD), stream_.get());
    MF_LIBRARY(cublasSsyrk_64(blas_, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, 1, &one,
                              on_device_.data(), n, &one, a_.data(), n));
  }

  // Element (i, j) of the inverse.
  double inverse(std::int64_t i, std::int64_t j) const {
    const double vv = static_cast<double>(v_[i]) * static_cast<double>(v_[j]);
    return ((i == j ? 1 : 0) - vv / (kD + square_)) / kD;
  }

 private:
  static constexpr double kD = 3;
  AlignedVector<float> v_;
  double square_ = 0;
  cuda::Stream stream_;
  cuda::DeviceBuffer<float> a_, on_device_;
  cublasHandle_t blas_ = nullptr;
};

}  // namespace mf::test
