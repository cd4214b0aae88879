#include "algorithms/ials/device_gram.hpp"

#include "algorithms/core/cuda/library_check.hpp"

namespace mf::ials {

void DeviceGram::Destroy::operator()(cublasContext* handle) const { cublasDestroy(handle); }

DeviceGram::DeviceGram(std::int32_t factors, cudaStream_t stream)
    : factors_(factors),
      stream_(stream),
      values_(cuda::zeros<float>(factors * row_stride(factors, sizeof(float)), stream)) {
  cublasHandle_t handle = nullptr;
  MF_LIBRARY(cublasCreate(&handle));
  handle_.reset(handle);
  MF_LIBRARY(cublasSetStream(handle, stream));
}

// cuBLAS takes columns: Y's rows are the columns of a factors x rows matrix, so G is that matrix
// times its transpose.
void DeviceGram::compute(const float* y, std::int64_t stride, std::int64_t rows, float reg) {
  const float one = 1;
  const float zero = 0;
  MF_LIBRARY(cublasSgemm(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_T, factors_, factors_,
                         static_cast<int>(rows), &one, y, static_cast<int>(stride), y,
                         static_cast<int>(stride), &zero, values_.data(),
                         static_cast<int>(pitch())));
  launch_regularize(values_.data(), pitch(), factors_, reg, stream_);
}

// In columns: to (count x rows) = G[first ..., :] (count x factors) X (factors x rows).
void DeviceGram::multiply(const float* x, std::int64_t stride, std::int64_t rows,
                          std::int32_t first, std::int32_t count, float* to,
                          std::int64_t to_stride) {
  const float one = 1;
  const float zero = 0;
  MF_LIBRARY(cublasSgemm(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, count, static_cast<int>(rows),
                         factors_, &one, values_.data() + first, static_cast<int>(pitch()), x,
                         static_cast<int>(stride), &zero, to, static_cast<int>(to_stride)));
}

}  // namespace mf::ials
