// Rows times a square matrix, to = factor op(M) from, by one kernel for any number of rows. By
// default cuBLAS picks a kernel by that number: a warm-up on small data loads another one than the
// first epoch needs, which then takes 10 ms longer.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstdint>

struct cublasContext;

namespace mf::ials {

// M is factors x factors, by columns; rows are `stride` floats apart, a whole number of 16 bytes.
class RowProduct {
 public:
  RowProduct() = default;
  RowProduct(cublasContext* handle, bool transposed, std::int32_t factors, std::int64_t stride,
             bool tf32, cudaStream_t stream);

  void run(const float* matrix, float factor, const float* from, std::int64_t count, float* to);

  // Whether that one kernel takes `count` rows; if not, `run` has cuBLAS pick another.
  bool same_kernel(std::int64_t count);

 private:
  struct Layouts;
  cublasLtMatmulAlgo_t algorithm_for(Layouts& layouts);

  cublasLtHandle_t handle_ = nullptr;
  std::int32_t factors_ = 0;
  std::int64_t stride_ = 0;
  cudaStream_t stream_ = nullptr;
  cublasLtMatmulDescOpaque_t product_ = {};
  cublasLtMatmulAlgo_t algorithm_ = {};
};

}  // namespace mf::ials
