// G = Y^T Y + l I on the device: by Sgemm of cuBLAS, and a kernel that adds l to the diagonal, as
// in the post.
//
// n rows of f factors: n f (f + 1) FLOPs (the symmetric half; Sgemm does 2 n f^2), 4 n f bytes
// read, 4 f^2 written.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/rows.hpp"

struct cublasContext;

namespace mf::ials {

class DeviceGram {
 public:
  DeviceGram() = default;
  // `factors` of a row; work is queued on the stream.
  DeviceGram(std::int32_t factors, cudaStream_t stream);

  // From `rows` rows of Y, `stride` floats apart.
  void compute(const float* y, std::int64_t stride, std::int64_t rows, float reg);

  // Row i begins at data() + i * pitch(), symmetric, zero beyond the factors: as als keeps an A.
  const float* data() const { return values_.data(); }
  std::int64_t pitch() const { return row_stride(factors_, sizeof(float)); }

  // For products with G: to = X G[:, first ... first + count), rows of `stride` and `to_stride`.
  void multiply(const float* x, std::int64_t stride, std::int64_t rows, std::int32_t first,
                std::int32_t count, float* to, std::int64_t to_stride);

 private:
  struct Destroy {
    void operator()(cublasContext* handle) const;
  };

  std::int32_t factors_ = 0;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<cublasContext, Destroy> handle_;
  cuda::DeviceBuffer<float> values_;
};

// gram[i * pitch + i] += reg, i < factors.
void launch_regularize(float* gram, std::int64_t pitch, std::int32_t factors, float reg,
                       cudaStream_t stream);

}  // namespace mf::ials
