// A handle of cuBLAS, and its calls, checked in place.
#pragma once

#include <cublas_v2.h>

#include "base/error.hpp"

namespace mf {

inline void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorKind::memory : ErrorKind::device,
       "cuBLAS: {} failed: {}", call, cublasGetStatusString(status));
}
#define MF_CUBLAS(call) ::mf::check_cublas((call), #call)

class CublasHandle {
 public:
  CublasHandle() {
    MF_CUBLAS(cublasCreate(&handle_));
    // Full single precision: the order of a ranking must not depend on rounded factors or sums.
    MF_CUBLAS(cublasSetMathMode(
        handle_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                           CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
  }
  ~CublasHandle() { cublasDestroy(handle_); }
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;

  cublasHandle_t on(cudaStream_t stream) const {
    MF_CUBLAS(cublasSetStream(handle_, stream));
    return handle_;
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace mf
